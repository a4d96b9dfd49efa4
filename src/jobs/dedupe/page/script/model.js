// Data of the page: its groups and their files, the decisions about them, and the steps that can be undone.
//
// The data lies in <script type="application/json"> elements: #header, one .group with its .thumbs a group, and
// #end with the page's identity. Text from a file goes into the page by textContent, never as markup.

const json = (element) => JSON.parse(element.textContent);
const header = json($('header'));
const pageId = json($('end')).id;
const KINDS = ['identical', 'same pixels', 'similar', 'altered', 'framed', 'series', 'recoloured', 'burst', 'related'];
const SUGGESTS = new Set(['identical', 'same pixels', 'similar']);
const UNDO_STEPS = 500;

// One entry per file on disk: a file may be in several groups (in an identical pair and in a burst),
// and it can be removed only once.
const files = [];
const groups = [];
const fileOf = new Map();
const keyOf = ({path, path_base64: bytes}) => (bytes ? 'b' + bytes : 'p' + path);

{
  for (const script of document.querySelectorAll('script.group')) {
    const group = json(script);
    const index = groups.length;
    group.index = index;
    group.thumbs = script.nextElementSibling;
    group.state = null;  // null: undecided; 'marked': every member is kept or removed; 'not': not duplicates
    group.apart = new Set();  // numbers of the pairs that are not duplicates
    for (const member of group.members) {
      const key = keyOf(member);
      let file = fileOf.get(key);
      if (file === undefined) {
        file = {removed: false, by: null, chosen: false, reference: false, size: member.size, groups: []};
        fileOf.set(key, file);
        files.push(file);
      }
      if (!file.groups.includes(group)) file.groups.push(group);
      if (member.reference) file.reference = true;
      member.file = file;
    }
    // Evidence of a suggestion: another kept file of the same bytes, or else the detailed check against the first member.
    for (const member of group.members) {
      member.byTwin = group.members.some((other) => other !== member && other.hash === member.hash &&
                                                    (other.keep || other.reference));
    }
    group.suggests = SUGGESTS.has(group.kind) &&
                     group.members.some((member) => member.keep || member.file.reference) &&
                     group.members.some((member) => !member.keep && !member.file.reference);
    group.reclaimable = 0;
    if (group.suggests) {
      for (const member of group.members) {
        if (!member.keep && !member.file.reference) group.reclaimable += member.size;
      }
    }
    // The score of a group is the lowest score of its pairs with the first member; identical files need no pair. Two
    // pictures that only the detailed check matched have no score.
    const scores = group.pairs.filter((pair) => (pair.a === 0 || pair.b === 0) && pair.score)
        .map((pair) => pair.score);
    group.score = scores.length ? Math.min(...scores) : group.kind === 'identical' ? 1 : -1;
    groups.push(group);
    script.remove();
  }
}

const decided = (group) => group.state !== null || group.apart.size > 0;
// Groups without a suggestion need no decision, so they are not counted.
const decidedOf = (group) => group.suggests && decided(group);
const sums = {files: 0, bytes: 0, decided: 0, toDecide: 0};

// Every change goes through these three setters, which update the sums and record the undo step.
let step = null;  // of the change under way
const undoSteps = [];

function remember(group) {
  if (step && !step.groups.has(group)) {
    step.groups.set(group, {state: group.state, apart: new Set(group.apart)});
  }
}
// `by` is the group that asked for it: when that group is cleared, the file is given back. `chosen`: a person marked
// this very file, for removal or for keeping.
function setFile(file, removed, by, chosen) {
  if (file.gone) return;
  if (file.removed === removed && file.by === by && file.chosen === chosen) return;
  if (step && !step.files.has(file)) {
    step.files.set(file, {removed: file.removed, by: file.by, chosen: file.chosen});
  }
  const changed = removed - file.removed;
  Object.assign(file, {removed, by, chosen});
  sums.files += changed;
  sums.bytes += changed * file.size;
  for (const group of file.groups) {
    touched.add(group);
    // A member of it is kept.
    if (!removed && group.state === 'whole') setState(group, 'marked');
  }
}
// A file that was already removed is no longer a member of its groups, and cannot be decided about.
function setGone(file, gone) {
  if (Boolean(file.gone) === gone) return;
  setFile(file, true, file.by, file.chosen);
  file.gone = gone;
  sums.files += gone ? -1 : 1;
  sums.bytes += gone ? -file.size : file.size;
  for (const group of file.groups) touched.add(group);
  // The file was restored, and no group still removes it.
  if (!gone && !(file.by && (file.by.state === 'marked' || file.by.state === 'whole'))) setFile(file, false, null, false);
}
const allGone = (group) => group.members.every(({file}) => file.gone);
// Groups that contain all copies: none of them loses its last member without a confirmation.
const ALL_COPIES = new Set(['identical', 'same pixels']);
// A choice of a person is kept, whatever is accepted later.
function setRemoved(file, removed, by, chosen = false) {
  if (file.removed && removed && (file.chosen || !chosen)) return;
  setFile(file, removed, removed || chosen ? by : null, chosen);
}
function setState(group, state) {
  if (group.state === state) return;
  remember(group);
  const before = decidedOf(group);
  group.state = state;
  sums.decided += decidedOf(group) - before;
  touched.add(group);
}
function setApart(group, pairs) {
  remember(group);
  const before = decidedOf(group);
  group.apart = pairs;
  sums.decided += decidedOf(group) - before;
  touched.add(group);
}

const touched = new Set();

function change(work) {
  step = {groups: new Map(), files: new Map()};
  try {
    work();
    dropUnsupported();
  } finally {
    if (step.groups.size || step.files.size) {
      undoSteps.push(step);
      if (undoSteps.length > UNDO_STEPS) undoSteps.shift();
    }
    step = null;
    showChange();
    saveSoon();
  }
}

function undo() {
  const last = undoSteps.pop();
  if (!last) {
    say(served && served.runs.length ? 'To undo the actions, open Carry out….' : 'There is nothing to undo.');
    return;
  }
  for (const [file, was] of last.files) setFile(file, was.removed, was.by, was.chosen);
  for (const [group, was] of last.groups) {
    setState(group, was.state);
    setApart(group, was.apart);
  }
  showChange();
  saveSoon();
  say('Undone.');
}
