// What stays in the browser, so that a page may be left and come back to.

const STORE = 'millrace:decisions:' + pageId;
// A review has another port each time, and so another place in the browser: it keeps the marks itself.
const keptMarks = () => (served ? json($('end')).marks : localStorage.getItem(STORE));

function restore() {
  try {
    for (const [index, state, removed, apart, chosen = []] of JSON.parse(keptMarks()).groups) {
      const group = groups[index];
      if (state === 'not' || (state === 'marked' && !nobodyStays(group))) setState(group, state);
      if (state === 'whole' && group.members.every(({file}) => !file.reference && mayGoWith(file, group))) {
        setState(group, state);
        for (const {file} of group.members) setRemoved(file, true, group, true);
        continue;
      }
      setApart(group, new Set(apart.filter((p) => p in group.pairs)));
      for (const m of removed) {
        const {file} = group.members[m];
        if (!file.reference && mayRemove(file, group)) setRemoved(file, true, group, chosen.includes(m));
      }
      for (const m of chosen) {
        const {file} = group.members[m];
        if (!removed.includes(m) && !file.removed) setRemoved(file, false, group, true);
      }
    }
    dropUnsupported();
  } catch (error) {
    // Nothing is kept here, or it is not ours: what could be read stands, the rest is undecided.
  }
}

let saveTimer = 0;
function save() {
  clearTimeout(saveTimer);
  saveTimer = 0;
  const kept = [];
  for (const group of groups) {
    if (!decided(group)) continue;
    const removed = [];
    const chosen = [];
    if (group.state === 'marked') {
      group.members.forEach((member, m) => {
        if (member.file.by !== group) return;
        if (member.file.removed) removed.push(m);
        if (member.file.chosen) chosen.push(m);
      });
    }
    kept.push([group.index, group.state, removed, [...group.apart], chosen]);
  }
  let problem = '';
  try {
    if (served) {
      askServer('/marks', JSON.stringify({groups: kept})).catch(() => {
        $('storage-warning').textContent = 'The review does not answer: your last marks are not kept.';
        $('storage-warning').hidden = false;
      });
      return;
    }
    if (kept.length) {
      localStorage.setItem(STORE, JSON.stringify({groups: kept}));
    } else {
      localStorage.removeItem(STORE);
    }
  } catch (error) {
    problem = 'This browser does not keep your marks for this page: save decisions.json before you leave.';
  }
  $('storage-warning').textContent = problem;
  $('storage-warning').hidden = problem === '';
}
function saveSoon() {
  if (!saveTimer) saveTimer = setTimeout(save, 150);
}
function saveNow() {
  if (saveTimer) save();
}
