// Decisions of a person. No decision may remove the last picture of a group, or a protected one.

// True if a picture is kept in every decided group of the file, in the current one, and among its copies.
function mayRemove(file, inHand) {
  return file.groups.every((group) => {
    const open = group.state === null && ALL_COPIES.has(group.kind);
    if (group !== inHand && group.state !== 'marked' && !open) return true;
    return group.members.some((member) => member.file !== file && !member.file.removed);
  });
}

function areApart(group, one, other) {
  const a = group.members.indexOf(one);
  const b = group.members.indexOf(other);
  return [...group.apart].some((p) => {
    const pair = group.pairs[p];
    return (pair.a === a && pair.b === b) || (pair.b === a && pair.a === b);
  });
}

// A member that is not a duplicate of any kept member has no duplicate left: it is kept too.
function standsAlone(group, member) {
  return group.apart.size > 0 && group.members.every((other) =>
      other === member || other.file.removed || areApart(group, member, other));
}

// True if a suggestion still holds: a picture that the member was found to be a copy of is kept.
function isSupported(group, member) {
  // The first was checked against each other one: it is removable for those that are interchangeable with it.
  if (member === group.members[0]) {
    return group.members.some((other) => other !== member && !other.file.removed && !areApart(group, member, other) &&
        (other.hash === member.hash || other.as_good));
  }
  return group.members.some((other) => other !== member && !other.file.removed && !areApart(group, member, other) &&
      (other.hash === member.hash || (!member.byTwin && other.hash === group.members[0].hash)));
}

// A picture that nobody chose is removed only for one that it was checked against. If that one is marked for removal,
// its own mark is dropped.
function dropUnsupported() {
  let dropped = 0;
  for (const group of touched) {  // a dropped mark touches more groups
    for (const member of group.members) {
      const {file} = member;
      if (!file.removed || file.chosen || file.gone) continue;
      if (isSupported(file.by, file.by.members.find((one) => one.file === file))) continue;
      setRemoved(file, false, null);
      dropped += 1;
    }
  }
  if (dropped) {
    say(`${plural(dropped, 'picture')} no longer marked: not checked in detail against a picture that is kept now.`);
  }
}

// Drops the marks that this group made, not those of other groups.
function giveBack(group) {
  for (const {file} of group.members) {
    if (file.by === group) setRemoved(file, false, null);
  }
}

// True if other groups have marked all pictures of an undecided group: then one has to be kept by hand first.
const nobodyStays = (group) => group.members.every((member) => member.file.removed && member.file.by !== group);

// True for a file kept by hand in another group: the marks of this group are dropped first.
const keptByHand = (file) => file.chosen && !file.removed;

function accept(group) {
  if (nobodyStays(group)) return false;
  setState(group, 'marked');
  giveBack(group);
  if (!group.suggests) return true;
  const going = group.members.filter((member) => !member.keep && !member.file.reference);
  for (const {file} of going) {
    if (mayRemove(file, group) && !keptByHand(file)) setRemoved(file, true, group);
  }
  for (const member of going) {
    if (member.file.by === group && standsAlone(group, member)) setRemoved(member.file, false, null);
  }
  return true;
}

function acceptOne(group) {
  if (SUGGESTS.has(group.kind) && !group.suggests) {
    say('There is no suggestion for this group: mark its pictures one by one.', true);
    return;
  }
  if (nobodyStays(group)) {
    say('Other groups mark every picture of this one for removal: keep one of them first.', true);
    return;
  }
  change(() => accept(group));
}

function mark(group, member, remove) {
  if (member.file.gone) {
    say('This picture was already removed.', true);
    return;
  }
  if (remove && member.file.reference) {
    say('This picture is in a protected folder: it is never marked for removal.', true);
    shake(group, member);
    return;
  }
  if (remove && !mayRemove(member.file, group)) {
    say('At least one picture of a group is kept. Keep another one first.', true);
    shake(group, member);
    return;
  }
  change(() => {
    setState(group, 'marked');
    setRemoved(member.file, remove, group, true);
  });
}

function notDuplicates(group) {
  change(() => {
    const undoing = group.state === 'not';
    giveBack(group);
    setState(group, undoing ? null : 'not');
    if (!undoing) setApart(group, new Set());
  });
}

function pairNotDuplicates(group, p) {
  if (group.members.length === 2) {
    notDuplicates(group);
    return;
  }
  change(() => {
    const pairs = new Set(group.apart);
    if (!pairs.delete(p)) pairs.add(p);
    if (group.state === 'not') setState(group, null);
    setApart(group, pairs);
    for (const member of group.members) {
      if (member.file.removed && member.file.by === group && standsAlone(group, member)) {
        setRemoved(member.file, false, null);
        say(`${nameAndFolder(member.path)[0]} has no kept duplicate left: it is kept too.`);
      }
    }
  });
}

function leaveUndecided(group) {
  change(() => {
    giveBack(group);
    setState(group, null);
    setApart(group, new Set());
  });
}
