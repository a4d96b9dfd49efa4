// Carries out the decisions in a page that a review serves: lists the actions, performs them, and can undo them.

// Decisions by the numbers of groups and members: the review has the files.
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

const GO_WORDS = {
  trash: 'Move to the trash', move: 'Move files', hardlink: 'Replace by hard links', delete: 'Set aside'};
const STATE_WORDS = {left: 'skipped', before: 'done before', waiting: 'not started'};

let listed = null;  // answer of the last dry run, whose plan may be carried out

const itemWords = (item) => {
  const [name, folder] = nameAndFolder(item.path);
  const planned = item.sidecar ? 'to be written' : 'planned';
  const state = item.state === 'would' ? planned : STATE_WORDS[item.state] || item.state;
  return h('li', {class: item.state}, h('b', {}, state), ' ', item.companion_of ? '+ ' : '', h('bdi', {}, name),
      h('span', {class: 'folder', title: visible(item.path)}, h('bdi', {}, folder)),
      item.to ? h('span', {class: 'to'}, '→ ', h('bdi', {}, visible(item.to))) : null,
      item.reason ? h('span', {class: 'reason'}, visible(item.reason)) : null);
};

// Failed and skipped items come first.
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

// `go`: the listed actions may be carried out; `only`: they only record pairs as not duplicates.
function carryState({busy = false, title, go = false, only = false}) {
  $('carry-title').textContent = title;
  $('carry').setAttribute('aria-busy', String(busy));
  $('carry-go').hidden = !go;
  $('carry-go').disabled = busy;
  $('carry-go').textContent = only ? 'Record it' : GO_WORDS[served.action];
  const last = served.runs[served.runs.length - 1];
  $('carry-back').hidden = !last;
  $('carry-back').disabled = busy;
  if (last) $('carry-back').textContent = `Restore the last ${plural(last[1], 'file')}`;
  $('carry-merge').disabled = busy;
  const knowing = groups.filter(knowsMore).length;
  $('carry-merge-more').textContent =
      knowing ? ` (${plural(knowing, 'group')}: removed files have more stars, keywords, names or places)` : '';
  $('carry-close').disabled = busy;
}

async function carry(go) {
  const body = {decisions: decisionsByNumber(), merge: $('carry-merge').checked, go};
  if (go) body.plan = listed.plan;
  carryState({busy: true, go: !go && Boolean(listed), title: go ? 'Working …' : 'Checking every file …'});
  try {
    const answer = await (await askServer('/apply', JSON.stringify(body))).json();
    listed = answer;
    showApplied(answer);
    if (go) {
      served.runs.push([answer.run, answer.applied.totals.done.files]);
      markGone(answer.applied, true);
    }
    const {would, not_duplicates: pairs} = answer.applied.totals;
    carryState(go ? {title: 'Done'} : {title: would.files + pairs ? 'What would be done' : 'Nothing to do',
      go: would.files + pairs > 0, only: would.files === 0});
  } catch (error) {
    // A refused request was not started. Without an answer, the outcome is unknown.
    carryState({title: !go ? 'Nothing was done' : error.refused ? 'The actions were not carried out' : 'It is unknown what was done'});
    $('carry-words').textContent = visible(error.message) +
        (!go ? '' : ' · Reload the page to see which files were removed.');
    $('carry-items').replaceChildren();
  }
}

async function takeBack() {
  carryState({busy: true, title: 'Restoring …'});
  try {
    const [run] = served.runs[served.runs.length - 1];
    const answer = await (await askServer('/undo', JSON.stringify({run, go: true}))).json();
    showApplied(answer);
    markGone(answer.applied, false);
    const {failed, lost, left, waiting} = answer.applied.totals;
    const all = failed.files + lost.files + left.files + waiting.files === 0;
    if (all) served.runs.pop();
    carryState({title: all ? 'Restored' : 'Some files were not restored'});
  } catch (error) {
    carryState({title: error.refused ? 'The undo did not finish' : 'It is unknown what was restored'});
    $('carry-words').textContent = visible(error.message) + ' · Reload the page to see which files are back.';
  }
}

function markGone(applied, gone) {
  for (const item of applied.items) {
    const file = fileOf.get(keyOf(item));
    if (!file || item.sidecar || item.state !== 'done' || served.action === 'hardlink') continue;
    setGone(file, gone);
  }
  askAgain();
  undoSteps.length = 0;  // an earlier step could mark a file that no longer exists
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
    warn(`The review has ended. Your ${kept ? '' : 'last '}marks are ${kept ? '' : 'not '}saved.`);
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

// Called after the marks are restored, since they include files that no longer exist.
function showGone() {
  if (!served || served.gone.length === 0) return;
  const byId = new Map();
  for (const group of groups) group.members.forEach((member, m) => byId.set(fileId(group, m), member.file));
  for (const id of served.gone) setGone(byId.get(id), true);
}
