// Filters and sorts the groups, and fills only those near the window.

const list = $('groups');

const near = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    const group = groups[Number(entry.target.dataset.g)];
    if (entry.isIntersecting) fill(group); else empty(group);
  }
}, {rootMargin: '1200px 0px'});

let shown = [];
const kindsOn = new Set();

// Grid of page.css: the number of members in a row. The pairs take the free cells of the last row, or columns of their own
// below.
const large = header.preview > 128;
const cellWidth = large ? 368 : 288;
const rowHeight = large ? 238 : 174;
document.documentElement.classList.toggle('large', large);
let narrow = false;
let columns = 1;
let pairColumns = 1;
const inLastRow = (group) => group.members.length % columns;
const pairsBeside = (group) => !narrow && inLastRow(group) !== 0;

function measure() {
  narrow = matchMedia('(max-width: 640px)').matches;
  const inside = list.clientWidth - 58;
  columns = narrow ? 2 : Math.max(1, Math.floor((inside + 6) / (cellWidth + 6)));
  pairColumns = Math.max(1, Math.floor((inside + 24) / 444));
  for (const group of groups) {
    if (group.view) placePairs(group);
    else group.node.style.height = `${guessHeight(group)}px`;
  }
}

function placePairs(group) {
  const first = pairsBeside(group) ? inLastRow(group) + 1 : 1;
  if (group.view.pairsBox) group.view.pairsBox.style.gridColumn = `${first} / -1`;
}

// Estimates the height well enough for the scroll bar.
function guessHeight(group) {
  const rows = Math.ceil(group.members.length / columns);
  const pairs = pairsBeside(group) ? 0 : Math.min(group.pairs.length, PAIRS_AT_FIRST + 1);
  if (narrow) return 84 + rows * 312 + pairs * 30;
  return 46 + rows * rowHeight + Math.ceil(pairs / pairColumns) * 21;
}

const textOf = (group) => group.text ||
    (group.text = group.members.map((member) => member.path.toLowerCase()).join('\n'));

const SORTS = {
  reclaimable: (a, b) => b.reclaimable - a.reclaimable,
  members: (a, b) => b.members.length - a.members.length,
  score: (a, b) => b.score - a.score,
  path: (a, b) => (a.members[0].path < b.members[0].path ? -1 : a.members[0].path > b.members[0].path ? 1 : 0),
};

function arrange() {
  const words = $('filter').value.toLowerCase().split(/\s+/).filter(Boolean);
  const undecidedOnly = $('undecided').checked;
  const threshold = Number($('score').value);
  const chosen = groups.filter((group) =>
      (kindsOn.size === 0 || kindsOn.has(group.kind)) &&
      (!undecidedOnly || !decided(group)) &&
      (threshold === 0 || group.score >= threshold) &&
      words.every((word) => textOf(group).includes(word)));
  const by = SORTS[$('sort').value];
  chosen.sort((a, b) => by(a, b) || a.index - b.index);
  const same = chosen.length === shown.length && chosen.every((group, i) => group === shown[i]);
  shown = chosen;
  if (!same || !list.firstChild) {
    const fragment = document.createDocumentFragment();
    for (const group of shown) fragment.append(group.node);
    list.replaceChildren(fragment);
  }
  $('nothing').hidden = shown.length > 0;
  $('nothing').textContent = groups.length === 0 ? 'No duplicates were found.' :
      undecidedOnly && groups.every(decided) ?
        'Every group is decided. ' + (served ? 'Click Carry out… to list the actions.' : 'Save decisions.json to continue.') :
      'No group matches the filter.';
  countOpen();
}

// The button shows how many groups it would decide: those with a suggestion.
const open = () => shown.filter((group) => !decided(group) && group.suggests && !nobodyStays(group));
function countOpen() {
  const count = open().length;
  $('accept-all').textContent = `Accept all shown (${number(count)})`;
  $('accept-all').disabled = count === 0;
}

function acceptAll() {
  let accepted = 0;
  change(() => open().forEach((group) => {
    if (accept(group)) accepted += 1;
  }));
  say(`${plural(accepted, 'suggestion')} accepted. Press z to undo.`);
}

// After a change: the groups that it touched and the sums.
function showChange() {
  for (const group of touched) refresh(group);
  touched.clear();
  $('sum-files').textContent = number(sums.files);
  $('sum-files-word').textContent = sums.files === 1 ? 'file' : 'files';
  $('sum-bytes').textContent = bytesText(sums.bytes);
  $('sum-decided').textContent = number(sums.decided);
  $('meter').setAttribute('aria-valuenow', sums.decided);
  $('meter-fill').style.width = `${sums.toDecide ? 100 * sums.decided / sums.toDecide : 0}%`;
  $('undo').disabled = undoSteps.length === 0;
  countOpen();
}
