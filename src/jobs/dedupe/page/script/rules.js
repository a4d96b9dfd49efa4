// A rule for all shown groups: matching files are kept, and the others are marked if a detailed check allows it.

// Compiles a folder or a pattern: * and ? stop at a slash, ** crosses it, [a-z] is one of these. It matches a path, or a
// folder of the path. A pattern without a leading slash may begin at any folder, as for `--prefer`.
function pathMatcher(text) {
  let pattern = text.trim().replace(/(.)\/+$/, '$1');
  if (!pattern) return null;
  if (!pattern.startsWith('/')) pattern = pattern.includes('/') && !pattern.startsWith('**/') ? '**/' + pattern : pattern;
  const WORDS = {'**/': '(?:.*/)?', '**': '.*', '*': '[^/]*', '?': '[^/]'};
  const set = (one) => one.replace(/^\[[!^]/, '[^/').replace(/\\/g, '\\\\');
  const source = pattern.replace(/\*\*\/|\*\*|[*?]|\[[!^]?[^\]]+\]|[.+^${}()|[\]\\]/g, (one) =>
      WORDS[one] || (one.length > 1 ? set(one) : '\\' + one));
  const whole = new RegExp(pattern.includes('/') ? `^${source}(/|$)` : `(^|/)${source}(/|$)`);
  return (path) => whole.test(path);
}

function keepMatching(text) {
  const matches = pathMatcher(text);
  if (!matches) {
    say('Enter a folder or a pattern first, such as **/sorted/**.', true);
    return;
  }
  let ruled = 0;
  let left = 0;
  let byHand = 0;
  change(() => {
    for (const group of shown) {
      if (!group.suggests || group.state === 'not' || group.state === 'whole') continue;
      const staying = group.members.filter((member) => matches(member.path));
      if (staying.length === 0 || staying.length === group.members.length) continue;
      if (group.members.some(({file}) => file.chosen)) {
        byHand += 1;
        continue;
      }
      ruled += 1;
      giveBack(group);
      setState(group, 'marked');
      for (const {file} of staying) {
        if (file.by === group || !file.removed) setRemoved(file, false, null);
      }
      for (const member of group.members) {
        if (staying.includes(member) || member.file.reference) continue;
        // A further keeper shows something that the first one does not.
        const first = member === group.members[0];
        if ((member.keep && !first) || !mayRemove(member.file, group) || !isSupported(group, member)) {
          left += 1;
          continue;
        }
        setRemoved(member.file, true, group);
      }
    }
  });
  const own = byHand === 0 ? '' :
    ` ${plural(byHand, 'group')} with your own marks ${byHand === 1 ? 'was' : 'were'} not changed.`;
  if (ruled === 0) {
    say(`No ${byHand ? 'other ' : ''}group shown has both matching and other pictures.${own}`, true);
    return;
  }
  const also = left === 0 ? '' :
    ` ${plural(left, 'other picture')} kept, not checked in detail against a matching one: search again with --prefer.`;
  say(`${plural(ruled, 'group')}: matching pictures are kept.${also}${own} Press z to undo.`);
}

// Lists the folders to choose from: those of the pictures, and those above them with several pictures.
function listFolders() {
  const counts = new Map();
  for (const group of groups) {
    for (const member of group.members) {
      for (let path = member.path, at; (at = path.lastIndexOf('/')) > 0;) {
        path = path.slice(0, at);
        counts.set(path, (counts.get(path) || 0) + 1);
      }
    }
  }
  const all = [...counts].filter(([, count]) => count > 1).sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
  $('rule-folders').append(...all.slice(0, 200).map(([folder]) => h('option', {value: folder})));
}
