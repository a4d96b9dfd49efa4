// Removes a whole group, so that no picture of it is kept. The page asks twice.

function ask(title, words, yes) {
  $('whole-title').textContent = title;
  $('whole-words').textContent = words;
  $('whole-yes').textContent = yes;
  const dialog = $('whole');
  dialog.returnValue = 'no';
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener('close', () => resolve(dialog.returnValue === 'yes'), {once: true});
  });
}

async function removeWhole(group) {
  if (group.members.some((member) => member.file.reference)) {
    say('A picture of this group is in a protected folder: it is never marked for removal.', true);
    return;
  }
  if (group.members.some((member) => member.file.gone)) {
    say('Some pictures of this group were already removed: search again to decide about the rest.', true);
    return;
  }
  const elsewhere = group.members.find((member) => !mayGoWith(member.file, group));
  if (elsewhere) {
    say(`${nameAndFolder(elsewhere.path)[0]} is the last kept picture of another group: decide that group first.`, true);
    return;
  }
  const count = group.members.length;
  if (!await ask(`Remove all ${count} pictures of this group?`,
      'None of these pictures would be kept.', 'Remove all…')) return;
  if (!await ask('No picture of this group will be kept', group.members.map((member) => visible(member.path)).join('\n'),
      `Yes, remove all ${count}`)) return;
  change(() => {
    giveBack(group);
    setState(group, 'whole');
    for (const {file} of group.members) setRemoved(file, true, group, true);
  });
  focusMember(group, group.cursor || 0, '');
}

// True if every other decided group of the file keeps a picture that is not in this group.
function mayGoWith(file, whole) {
  const going = new Set(whole.members.map((member) => member.file));
  return file.groups.every((group) => group === whole || group.state !== 'marked' ||
      group.members.some((member) => !going.has(member.file) && !member.file.removed));
}

// A confirmation for a whole group does not hold for a part of it.
function askAgain() {
  for (const group of groups) {
    if (group.state !== 'whole' || !group.members.some(({file}) => file.gone) || allGone(group)) continue;
    giveBack(group);
    setState(group, null);
  }
}
