// One group on the page: its pictures, its pairs, and its decisions.

const PAIRS_AT_FIRST = 8;

function thumbAddress(thumb) {
  if (typeof thumb === 'string') return 'data:image/jpeg;base64,' + thumb;
  const folder = String(Math.floor(thumb / 1000)).padStart(4, '0');
  return `${header.thumbs}${folder}/${String(thumb).padStart(6, '0')}.jpg`;
}

// Marks the area in which an altered picture differs.
function placeMark([left, top, right, bottom]) {
  const mark = h('span', {class: 'place', title: 'it differs here'});
  const percent = (share) => `${(100 * share).toFixed(2)}%`;
  Object.assign(mark.style, {
    left: percent(left), top: percent(top), width: percent(right - left), height: percent(bottom - top)});
  return mark;
}

function memberView(group, member, m, thumb) {
  const [name, folder] = nameAndFolder(member.path);
  const dot = Math.max(0, name.lastIndexOf('.'));
  const largest = (of) => {
    const values = group.members.map(of);
    const most = Math.max(...values);
    return of(member) === most && values.some((value) => value < most);
  };
  const badge = (kind, text, title) => h('span', {class: 'badge ' + kind, title}, text);
  const picture = () => {
    const element = h('img', {alt: '', src: served ? null : thumbAddress(thumb), decoding: 'async', draggable: 'false'});
    if (served) fetchThumb(thumb, element);
    return element;
  };
  const image = thumb === null || thumb === undefined || member.file.gone ?
      h('span', {class: 'none'}, member.file.gone ? 'already removed' : 'no thumbnail') :
      h('span', {class: 'picture'}, picture(), member.place ? placeMark(member.place) : null);
  const size = h('span', {class: largest((one) => one.size) ? 'most' : ''}, bytesText(member.size));
  const pixels = member.width && member.height ?
      h('span', {class: largest(megapixels) ? 'most' : ''}, `${member.width} × ${member.height}`) :
      h('span', {}, 'size unknown');
  const date = member.date ?
      h('span', {title: 'captured'}, visible(captureText(member.date))) :
      h('span', {title: `last change of the file, ${dateOfChange(member.mtime_ns)}; no capture date`},
        'changed ' + dateOfChange(member.mtime_ns).slice(0, 10));

  const keep = h('button', {type: 'button', class: 'keep', tabindex: '-1', on: {
    click: () => mark(group, member, false)}}, 'Keep');
  const remove = h('button', {type: 'button', class: 'remove', tabindex: '-1', on: {
    click: () => mark(group, member, true)}}, 'Remove');

  const link = h('a', {class: 'name', title: visible(member.path), tabindex: '-1', href: addressOf(member),
    target: '_blank', rel: 'noopener'}, h('bdi', {}, name.slice(0, dot), h('wbr'), name.slice(dot)));
  const node = h('figure', {class: 'member', tabindex: '-1', role: 'group', 'data-m': m},
      h('div', {class: 'mat', title: 'compare (c)', on: {dblclick: () => {
        group.cursor = m;
        openCompare(group);
      }}}, image),
      h('figcaption', {class: 'side'},
        h('div', {class: 'badges'},
          h('span', {class: 'badge number', 'aria-hidden': 'true'}, String(m + 1)),
          member.keep && SUGGESTS.has(group.kind) ? badge('keep', '★ Keep', 'suggested to keep') : null,
          badge('away', 'Already removed', 'the file no longer exists at this path'),
          member.file.reference ? badge('reference', 'Reference', 'in a protected folder: never removed') : null,
          member.damaged ? badge('damaged', 'Damaged', 'only partly readable') : null),
        h('div', {class: 'words'},
          link,
          h('div', {class: 'folder', title: visible(member.path)}, h('bdi', {}, folder)),
          h('div', {class: 'line'}, pixels, h('span', {}, megapixelText(member))),
          h('div', {class: 'line'}, size,
            member.camera ? h('span', {title: visible(member.camera)}, visible(cameraText(member.camera))) : null),
          h('div', {class: 'more'}, date),
          member.companions ? h('div', {class: 'more', title: visible(member.companions.join('  '))},
            'with ' + member.companions.map((path) => nameAndFolder(path)[0]).join(', ')) : null,
          member.holds ? h('div', {class: 'more', title: 'what the file contains besides the compared picture'},
            holdsText(member.holds)) : null,
          member.why ? h('div', {class: member.keep ? 'why' : 'why other'}, visible(member.why)) : null,
          member.warning ? h('div', {class: 'but', title: visible(member.warning)},
            (member.why ? '⚠ but ' : '⚠ ') + visible(member.warning)) : null),
        h('div', {class: 'marks'}, keep, member.file.reference ? null : remove)));
  return {node, link, keep, remove, name};
}

function pairsView(group) {
  if (group.pairs.length === 0) return null;
  const order = group.pairs.map((_, p) => p);
  order.sort((p, q) => (group.pairs[q].score ?? -1) - (group.pairs[p].score ?? -1) || p - q);
  const buttons = new Map();
  const row = (p) => {
    const pair = group.pairs[p];
    const button = h('button', {type: 'button', on: {click: () => pairNotDuplicates(group, p)},
      'aria-label': `Pictures ${pair.a + 1} and ${pair.b + 1} are not duplicates`}, 'not duplicates');
    buttons.set(p, button);
    const far = Object.entries(pair.distances).map(([name, value]) =>
        h('span', {title: 'number of differing bits of this hash, of 64'}, `${name} ${value}`));
    return h('li', {},
        h('span', {class: 'who'}, `${pair.a + 1} – ${pair.b + 1}`),
        h('span', {class: 'far'},
          pair.score === null ? null : h('b', {title: 'score: 0 to 1, higher is more alike'}, scoreText(pair.score)),
          ...far),
        button);
  };
  const ul = h('ul', {}, ...order.slice(0, PAIRS_AT_FIRST).map(row));
  const box = h('div', {class: 'pairs', 'aria-label': 'Pairs: score and distances', role: 'group'}, ul);
  if (order.length > PAIRS_AT_FIRST) {
    const rest = h('button', {type: 'button', class: 'rest', on: {click: () => {
      ul.append(...order.slice(PAIRS_AT_FIRST).map(row));
      rest.remove();
      refresh(group);
    }}}, `show all ${number(order.length)} pairs`);
    box.append(rest);
  }
  return {box, buttons};
}

const KIND_WORDS = {
  identical: 'Identical', 'same pixels': 'Same pixels', similar: 'Similar', altered: 'Altered', framed: 'Framed',
  series: 'Series', recoloured: 'Recoloured', burst: 'Burst', related: 'Related',
};

const KIND_HELP = {
  identical: 'Copies of one file: every byte is the same.',
  'same pixels': 'The same pixels with different metadata.',
  similar: 'The same photograph: saved again, scaled or cropped.',
  altered: 'Something was added, removed or changed in an area, or each is in focus in another area; a frame marks where. ' +
      'Also drawings that are mirrored or rotated.',
  framed: 'Each shows something that the other lacks, or one is shown on a screen or in a frame.',
  series: 'Different shots, taken one after the other.',
  recoloured: 'The same photograph with other colors, another exposure or a strong edit.',
  burst: 'Shots within a second of each other.',
  related: 'They look alike at first sight, but are different pictures.',
};
const kindHelp = (kind) => (KIND_HELP[kind] || '') + (SUGGESTS.has(kind) ? '' : ' Nothing is suggested for removal.');

function fill(group) {
  if (group.view) return;
  const thumbs = json(group.thumbs);
  const view = {};
  view.members = group.members.map((member, m) => memberView(group, member, m, thumbs[m]));
  const pairs = pairsView(group);
  view.pairs = pairs ? pairs.buttons : new Map();
  view.pairsBox = pairs && pairs.box;
  view.state = h('span', {class: 'state'});
  view.accept = h('button', {type: 'button', class: 'accept', 'aria-keyshortcuts': 'a', on: {
    click: () => acceptOne(group)}}, SUGGESTS.has(group.kind) ? 'Accept suggestion' : 'Keep all');
  view.accept.disabled = SUGGESTS.has(group.kind) && !group.suggests;
  view.not = h('button', {type: 'button', 'aria-keyshortcuts': 'n', on: {
    click: () => notDuplicates(group)}}, 'Not duplicates');
  view.whole = h('button', {type: 'button', class: 'whole', 'aria-keyshortcuts': 'x',
    title: 'remove every picture of the group; asks twice', on: {click: () => removeWhole(group)}}, 'Remove all…');
  view.loss = h('p', {class: 'loss', role: 'note'});
  view.compare = h('button', {type: 'button', 'aria-keyshortcuts': 'c', on: {click: () => openCompare(group)}}, 'Compare');
  view.leave = h('button', {type: 'button', 'aria-keyshortcuts': 'u', title: 'leave undecided', on: {
    click: () => leaveUndecided(group)}}, 'Clear');
  const facts = [plural(group.members.length, 'picture')];
  if (group.reclaimable) facts.push(`${bytesText(group.reclaimable)} to free`);
  if (group.score >= 0 && group.pairs.length) facts.push(`score ${scoreText(group.score)}`);
  group.view = view;
  group.node.replaceChildren(
      h('div', {class: 'group-head'},
        h('h2', {title: kindHelp(group.kind)}, KIND_WORDS[group.kind] || group.kind),
        h('span', {class: 'facts'}, facts.join(' · ')),
        view.state,
        h('div', {class: 'acts'}, view.compare, view.accept, view.not, view.whole, view.leave)),
      view.loss,
      h('div', {class: 'strip'}, ...view.members.map((one) => one.node), pairs && pairs.box));
  group.node.style.height = '';
  placePairs(group);
  refresh(group);
}

// Removes the elements of a group far from the window and keeps its height, so a long page needs little memory.
function empty(group) {
  if (!group.view || group.node.contains(document.activeElement)) return;
  group.node.style.height = `${group.node.offsetHeight || guessHeight(group)}px`;
  group.node.replaceChildren();
  group.view = null;
}

// Returns in what a picture that a person marked for removal is better than all kept ones.
function lossOf(group) {
  if (group.state !== 'marked') return '';
  const staying = group.members.filter((member) => !member.file.removed);
  const words = [];
  for (const member of group.members) {
    if (!member.file.removed || staying.length === 0 || !(member.keep || member.file.chosen)) continue;
    const better = [];
    const most = (of) => Math.max(...staying.map(of));
    const given = (one) => one.given || 0;
    const exif = (one) => one.exif || 0;
    if (megapixels(member) > most(megapixels)) better.push(`more pixels, ${member.width} × ${member.height}`);
    if (given(member) > most(given)) better.push('more stars, keywords, names or places');
    if (exif(member) > most(exif)) better.push(`${member.exif} EXIF fields`);
    if (better.length) words.push(`${nameAndFolder(member.path)[0]}, marked for removal, has ${better.join(', ')}`);
  }
  return words.length ? `⚠ ${words.join('; ')}` : '';
}

// True if a removed picture has more metadata from people than all kept ones.
function knowsMore(group) {
  if (group.state !== 'marked') return false;
  const given = (gone) => Math.max(0, ...group.members.filter(({file}) => file.removed === gone && !file.gone)
      .map((member) => member.given || 0));
  return given(true) > given(false);
}

function stateOf(group) {
  if (allGone(group)) return ['marked', 'Already removed'];
  if (group.state === 'whole') return ['warn', `⚠ keep none, remove ${group.members.length}`];
  if (group.state === 'not') return ['not', 'Not duplicates'];
  if (group.state === 'marked') {
    const staying = group.members.filter((member) => !member.file.removed);
    const away = group.members.filter((member) => member.file.gone).length;
    const go = group.members.length - staying.length - away;
    if (go && staying.every((member) => member.damaged)) {
      return ['warn', `⚠ keep only damaged ones, remove ${go}`];
    }
    const words = [`keep ${staying.length}`, go ? `remove ${go}` : '', away ? `${away} already removed` : '']
        .filter(Boolean);
    return ['marked', go + away === 0 ? '✓ keep all' : '✓ ' + words.join(', ')];
  }
  if (group.apart.size) return ['not', plural(group.apart.size, 'pair') + ' not duplicates'];
  return ['', ''];
}

function refresh(group) {
  const view = group.view;
  if (!view) return;
  const marked = group.state === 'marked';
  group.members.forEach((member, m) => {
    const one = view.members[m];
    const removed = member.file.removed;
    const kept = marked && !removed;
    one.node.classList.toggle('removed', removed);
    one.node.classList.toggle('kept', kept);
    one.node.classList.toggle('gone', Boolean(member.file.gone));
    one.keep.disabled = one.remove.disabled = Boolean(member.file.gone);
    one.keep.setAttribute('aria-pressed', String(kept));
    one.remove.setAttribute('aria-pressed', String(removed));
    const words = [`Picture ${m + 1} of ${group.members.length}`, one.name];
    if (member.file.gone) words.push('already removed');
    else if (removed) words.push(marked || group.state === 'whole' ? 'marked for removal' : 'marked for removal in another group');
    if (kept) words.push('kept');
    if (member.keep && SUGGESTS.has(group.kind)) words.push('suggested to keep');
    if (member.file.reference) words.push('reference, protected');
    if (member.damaged) words.push('damaged');
    one.node.setAttribute('aria-label', words.join(', '));
    for (const stop of [one.node, one.link, one.keep, one.remove]) {
      stop.tabIndex = m === (group.cursor || 0) ? 0 : -1;
    }
  });
  for (const [p, button] of view.pairs) {
    button.setAttribute('aria-pressed',
        String(group.apart.has(p) || (group.members.length === 2 && group.state === 'not')));
  }
  const [kind, words] = stateOf(group);
  view.state.className = 'state ' + kind;
  view.state.textContent = words;
  view.state.hidden = words === '';
  view.not.setAttribute('aria-pressed', String(group.state === 'not'));
  view.leave.hidden = !decided(group);
  view.whole.hidden = group.state === 'whole' || group.members.some(({file}) => file.reference || file.gone);
  view.loss.textContent = lossOf(group);
  view.loss.hidden = view.loss.textContent === '';
}
