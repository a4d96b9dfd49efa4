// What a person may decide, and what no decision may do: take the last picture of a group, or a protected one.

// Whether a survivor stays behind in every decided group of the file, in the one in hand, and among its copies.
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

// A member that was told apart from every member that stays has no duplicate left: it stays too.
function standsAlone(group, member) {
  return group.apart.size > 0 && group.members.every((other) =>
      other === member || other.file.removed || areApart(group, member, other));
}

// Whether a suggestion still holds: what a member was found to be the same as stays.
function isSupported(group, member) {
  // The first was looked at against each other one: it may go for those that a look found as good.
  if (member === group.members[0]) {
    return group.members.some((other) => other !== member && !other.file.removed && !areApart(group, member, other) &&
        (other.hash === member.hash || other.as_good));
  }
  return group.members.some((other) => other !== member && !other.file.removed && !areApart(group, member, other) &&
      (other.hash === member.hash || (!member.byTwin && other.hash === group.members[0].hash)));
}

// What nobody chose goes only for what it was looked at against. When that is to go, it stays.
function dropUnsupported() {
  let dropped = 0;
  for (const group of touched) {  // what is dropped touches more
    for (const member of group.members) {
      const {file} = member;
      if (!file.removed || file.chosen || file.gone) continue;
      if (isSupported(file.by, file.by.members.find((one) => one.file === file))) continue;
      setRemoved(file, false, null);
      dropped += 1;
    }
  }
  if (dropped) say(`${plural(dropped, 'picture')} not compared closely with the one that stays now: marked no more.`);
}

// What this group marked; what another one marked is not its to give back.
function giveBack(group) {
  for (const {file} of group.members) {
    if (file.by === group) setRemoved(file, false, null);
  }
}

// Other groups may have marked all of an undecided group's pictures: then one has to be kept by hand first.
const nobodyStays = (group) => group.members.every((member) => member.file.removed && member.file.by !== group);

// In another group: what this one had is given back first.
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
    say('This picture was carried away.', true);
    return;
  }
  if (remove && member.file.reference) {
    say('This picture is in a protected folder: it is never marked for removal.', true);
    shake(group, member);
    return;
  }
  if (remove && !mayRemove(member.file, group)) {
    say('At least one picture of a group stays. Keep another one first.', true);
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
        say(`${nameAndFolder(member.path)[0]} has no duplicate left that stays: it stays too.`);
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
