// Fills the header, draws the page, and registers the event handlers.

// Adds a line that opens to a list of files, each with its problem.
function noteFiles(files, words) {
  if (!files.length) return;
  const items = h('ul', {});
  const fillItems = () => items.append(...files.map((one) =>
      h('li', {}, h('b', {}, h('bdi', {}, visible(one.path))), ' ', visible(one.reason))));
  const details = h('details', {}, h('summary', {}, `${plural(files.length, 'file')} ${words}`), items);
  details.addEventListener('toggle', fillItems, {once: true});  // there may be very many
  $('notes').append(details);
}

function fillHead() {
  $('title').textContent = visible(header.title);
  $('folders').textContent = header.folders.map(visible).join('  ·  ');
  const total = (value, words) => h('div', {}, h('dt', {}, words), h('dd', {}, value));
  const totals = header.totals;
  $('totals').append(
      total(number(totals.files), 'files'),
      total(number(totals.pictures), 'pictures'),
      total(number(totals.groups), 'groups'),
      total(bytesText(totals.reclaimable), 'can be freed'));
  if (header.rule) $('notes').append(h('p', {}, visible(header.rule)));
  noteFiles(header.unreadable, 'could not be read');
  noteFiles(header.damaged, 'damaged (only partly readable)');
  $('rule').textContent = visible(header.rule);
  for (const kind of KINDS) {
    const count = groups.filter((group) => group.kind === kind).length;
    if (count === 0) continue;
    $('kind-help').append(h('dt', {}, KIND_WORDS[kind]), h('dd', {}, kindHelp(kind)));
    const button = h('button', {type: 'button', 'aria-pressed': 'false', 'data-kind': kind, title: kindHelp(kind), on: {click: () => {
      if (!kindsOn.delete(kind)) kindsOn.add(kind);
      button.setAttribute('aria-pressed', String(kindsOn.has(kind)));
      arrange();
    }}}, KIND_WORDS[kind] + ' ', h('small', {}, number(count)));
    $('kinds').append(button);
  }
  const scores = groups.map((group) => group.score).filter((score) => score >= 0);
  $('score-box').hidden = new Set(scores).size < 2;
  listFolders();
  $('rule-form').hidden = !groups.some((group) => group.suggests);
  $('kinds').hidden = $('kinds').childElementCount < 2;
  sums.toDecide = groups.filter((group) => group.suggests).length;
  $('sum-groups').textContent = number(sums.toDecide);
  $('meter').setAttribute('aria-valuemax', sums.toDecide);
}

for (const group of groups) {
  group.node = h('article', {class: 'group', 'data-g': group.index,
    'aria-label': `${KIND_WORDS[group.kind] || group.kind}, ${plural(group.members.length, 'picture')}`});
  near.observe(group.node);
}

fillHead();
restore();
showGone();
askAgain();
arrange();
measure();  // the list has its scroll bar now
showChange();

let filterTimer = 0;
$('filter').addEventListener('input', () => {
  clearTimeout(filterTimer);
  filterTimer = setTimeout(arrange, 80);
});
$('undecided').addEventListener('change', arrange);
$('score').addEventListener('input', () => {
  $('score-value').textContent = $('score').value;
  clearTimeout(filterTimer);
  filterTimer = setTimeout(arrange, 80);
});
$('rule-form').addEventListener('submit', (event) => {
  event.preventDefault();
  keepMatching($('rule-path').value);
});
$('sort').addEventListener('change', () => {
  arrange();
  scrollTo(0, 0);
});
$('accept-all').addEventListener('click', acceptAll);
$('help-button').addEventListener('click', showHelp);
$('undo').addEventListener('click', undo);
$('export').addEventListener('click', setExport);
document.addEventListener('keydown', onKey);
list.addEventListener('focusin', (event) => {
  const node = event.target.closest('.group');
  if (!node) return;
  const group = groups[Number(node.dataset.g)];
  const member = event.target.closest('.member');
  if (member) group.cursor = Number(member.dataset.m);
  refresh(group);
  setCurrent(group);
});
// After a click on a button, the keys continue from its picture: space must not press the button again.
list.addEventListener('click', (event) => {
  const node = event.target.closest('.group');
  if (!node || event.detail === 0 || event.target.closest('.pairs, .name[href]')) return;
  const group = groups[Number(node.dataset.g)];
  const member = event.target.closest('.member');
  focusMember(group, member ? Number(member.dataset.m) : group.cursor || 0, '');
});
// The sticky bars must not cover the group that the keys move to.
function fitPadding() {
  const sticks = getComputedStyle($('tools')).position === 'sticky';
  const top = sticks ? $('tools').offsetHeight : 0;
  document.documentElement.style.scrollPadding = `${top + 8}px 0 ${$('bar').offsetHeight + 8}px`;
}
fitPadding();
let widthTimer = 0;
addEventListener('resize', () => {
  clearTimeout(widthTimer);
  widthTimer = setTimeout(() => {
    measure();
    fitPadding();
  }, 200);
});
addEventListener('pagehide', saveNow);
document.addEventListener('visibilitychange', saveNow);
