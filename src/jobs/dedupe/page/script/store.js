// Saves the marks, so that a person may leave the page and continue later.

const STORE = 'millrace:decisions:' + pageId;
// Each review has another host name, and so another store in the browser: the review itself saves the marks.
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
      for (const m of chosen) {
        if (!removed.includes(m)) setRemoved(group.members[m].file, false, group, true);
      }
      for (const m of removed) {
        const {file} = group.members[m];
        if (!file.reference && mayRemove(file, group)) setRemoved(file, true, group, chosen.includes(m));
      }
    }
    dropUnsupported();
  } catch (error) {
    // Nothing is saved here, or it is not from this page: the readable marks are used, the rest is undecided.
  }
}

let saveTimer = 0;
let saves = 0;
// Returns true if the marks are saved.
async function save() {
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
  try {
    if (served) {
      // The number shows the review which marks are the newest, whichever arrive last.
      saves = Math.max(saves + 1, Date.now());
      await askServer('/marks', JSON.stringify({groups: kept, number: saves, visit: served.visit}));
    } else if (kept.length) {
      localStorage.setItem(STORE, JSON.stringify({groups: kept}));
    } else {
      localStorage.removeItem(STORE);
    }
    if (!over) warn('');
    return true;
  } catch (error) {
    if (!over) {
      warn(served ? `Your last marks are not saved: ${error.refused ? visible(error.message) : 'the review does not answer'}.` :
        'This browser does not save your marks for this page: save decisions.json before you leave.');
    }
    return false;
  }
}
function saveSoon() {
  if (!saveTimer) saveTimer = setTimeout(save, 150);
}
function saveNow() {
  if (saveTimer) save();
}
