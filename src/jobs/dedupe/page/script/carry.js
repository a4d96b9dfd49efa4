// Carrying out what is decided, in a page that a review serves: listed first, then done, then taken back if need be.

// By the numbers of groups and members alone: the review knows their files.
function decisionsByNumber() {
  return decisions((group, action, member, more = {}) => {
    const one = [group.index, group.members.indexOf(member), action];
    const words = {};
    if (more.chosen) words.chosen = true;
    if (more.whole_group) words.whole = more.whole_group;
    if (more.with) words.with = group.members.indexOf(more.with);
    if (Object.keys(words).length) one.push(words);
    return one;
  });
}

const GO_WORDS = {trash: 'Put them into the trash', move: 'Move them', hardlink: 'Replace them by hard links', delete: 'Set them aside'};

let listed = null;  // what a dry run has answered, and may be done

const itemWords = (item) => {
  const [name, folder] = nameAndFolder(item.path);
  const state = item.state !== 'would' ? item.state : item.sidecar ? 'would be written' : 'would go';
  return h('li', {class: item.state}, h('b', {}, state), ' ', item.companion_of ? '+ ' : '', h('bdi', {}, name),
      h('span', {class: 'folder', title: visible(item.path)}, h('bdi', {}, folder)),
      item.to ? h('span', {class: 'to'}, '→ ', h('bdi', {}, visible(item.to))) : null,
      item.reason ? h('span', {class: 'reason'}, visible(item.reason)) : null);
};

// What differs from the plain course of things stands first.
function showApplied({applied, summary}) {
  const order = ['failed', 'lost', 'left', 'waiting', 'would', 'done', 'before'];
  const items = [...applied.items].sort((a, b) => order.indexOf(a.state) - order.indexOf(b.state));
  const MOST = 2000;
  const list = h('ul', {}, ...items.slice(0, MOST).map(itemWords));
  if (items.length > MOST) list.append(h('li', {}, `and ${number(items.length - MOST)} more`));
  $('carry-words').textContent = visible(summary.split('\n').filter((line) => !/ --go|^journal:/.test(line)).join('\n').trim()
      .replace(/\n/g, ' · '));
  $('carry-items').replaceChildren(list);
}

// `go`: what was listed may be done; `only`: of it there are pairs to be remembered alone.
function carryState({busy = false, title, go = false, only = false}) {
  $('carry-title').textContent = title;
  $('carry').setAttribute('aria-busy', String(busy));
  $('carry-go').hidden = !go;
  $('carry-go').disabled = busy;
  $('carry-go').textContent = only ? 'Remember it' : GO_WORDS[served.action];
  const last = served.runs[served.runs.length - 1];
  $('carry-back').hidden = !last;
  $('carry-back').disabled = busy;
  if (last) $('carry-back').textContent = `Take back the last ${plural(last[1], 'file')}`;
  $('carry-merge').disabled = busy;
  const knowing = groups.filter(knowsMore).length;
  $('carry-merge-more').textContent = knowing ? ` (${plural(knowing, 'group')}: more stars, keywords, names or places go)` : '';
  $('carry-close').disabled = busy;
}

async function carry(go) {
  const body = {decisions: decisionsByNumber(), merge: $('carry-merge').checked, go};
  if (go) body.plan = listed.plan;
  carryState({busy: true, go: !go && Boolean(listed), title: go ? 'At work …' : 'Looking at every file …'});
  try {
    const answer = await (await askServer('/apply', JSON.stringify(body))).json();
    listed = answer;
    showApplied(answer);
    if (go) {
      served.runs.push([answer.run, answer.applied.totals.done.files]);
      markGone(answer.applied, true);
    }
    const {would, not_duplicates: pairs} = answer.applied.totals;
    carryState(go ? {title: 'Done'} : {title: would.files + pairs ? 'What would be done' : 'Nothing is to be done',
      go: would.files + pairs > 0, only: would.files === 0});
  } catch (error) {
    // What was refused was not begun; of what no answer came nothing is known.
    carryState({title: !go || error.refused ? 'It was not done' : 'It is not known what was done'});
    $('carry-words').textContent = visible(error.message) + (!go || error.refused ? '' : ' · Load the page again: it shows what is gone.');
    $('carry-items').replaceChildren();
  }
}

async function takeBack() {
  carryState({busy: true, title: 'Taking it back …'});
  try {
    const [run] = served.runs[served.runs.length - 1];
    const answer = await (await askServer('/undo', JSON.stringify({run, go: true}))).json();
    showApplied(answer);
    markGone(answer.applied, false);
    const {failed, lost, left, waiting} = answer.applied.totals;
    const all = failed.files + lost.files + left.files + waiting.files === 0;
    if (all) served.runs.pop();
    carryState({title: all ? 'Taken back' : 'Not all of it is back'});
  } catch (error) {
    carryState({title: error.refused ? 'It was not taken back' : 'It is not known what was taken back'});
    $('carry-words').textContent = visible(error.message);
  }
}

function markGone(applied, gone) {
  for (const item of applied.items) {
    const file = fileOf.get(keyOf(item));
    if (!file || item.sidecar || item.state !== 'done' || served.action === 'hardlink') continue;
    setGone(file, gone);
  }
  askAgain();
  undoSteps.length = 0;  // a step before it would mark what is not there
  showChange();
  saveSoon();
}
function openCarry() {
  saveNow();
  listed = null;
  $('carry-words').textContent = '';
  $('carry-items').replaceChildren();
  $('carry').showModal();
  carry(false);
}

async function endReview() {
  const kept = await save();
  try {
    await askServer('/done', '');
    over = true;
    warn(`The review has ended. Your ${kept ? '' : 'last '}marks are ${kept ? '' : 'not '}kept.`);
  } catch (error) {
    say(visible(error.message), true);
  }
}

if (served) {
  $('export').hidden = true;
  for (const [name, hidden] of [['of-a-file', true], ['of-a-review', false]]) {
    for (const element of document.getElementsByClassName(name)) element.hidden = hidden;
  }
  $('carry-open').hidden = false;
  $('end-review').hidden = false;
  $('carry-merge').checked = served.merge;
  $('carry-open').addEventListener('click', openCarry);
  $('carry-merge').addEventListener('change', () => carry(false));
  $('carry-go').addEventListener('click', () => carry(true));
  $('carry-back').addEventListener('click', takeBack);
  $('end-review').addEventListener('click', endReview);
  $('carry').addEventListener('cancel', (event) => {
    if ($('carry').getAttribute('aria-busy') === 'true') event.preventDefault();
  });
}

// After the marks came back, which are of all there was.
function showGone() {
  if (!served || served.gone.length === 0) return;
  const byId = new Map();
  for (const group of groups) group.members.forEach((member, m) => byId.set(fileId(group, m), member.file));
  for (const id of served.gone) setGone(byId.get(id), true);
}
