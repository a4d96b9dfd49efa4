// Exports decisions.json, which millrace dedupe apply reads.

// Returns an entry in the format of the file.
function entryOf(group, action, member, more = {}) {
  const one = {group: group.id, action, path: member.path};
  if (member.path_base64) one.path_base64 = member.path_base64;
  one.size = member.size;
  one.mtime_ns = member.mtime_ns;
  one.hash = member.hash;
  if (more.chosen) one.chosen = true;
  if (more.whole_group) one.whole_group = more.whole_group;
  if (more.with) one.with = more.with.hash;
  return one;
}

// Returns the decisions, each formatted by `form`. Files that no longer exist have none.
function decisions(form) {
  const entries = [];
  const entry = (group, action, member, more) => {
    if (!member.file.gone && !(more && more.with && more.with.file.gone)) entries.push(form(group, action, member, more));
  };
  for (const group of groups) {
    if (group.state === 'not') {
      for (const member of group.members) entry(group, 'not_duplicates', member);
      continue;
    }
    if (group.state === 'whole') {
      // A confirmation for this number of members does not hold for fewer.
      const all = {chosen: true, whole_group: group.members.length};
      for (const member of group.members) entry(group, 'remove', member, all);
    }
    if (group.state === 'marked') {
      // A file has a decision in every group that contains it, and each group must name its kept files. If the file is
      // not a duplicate of any of those, only the decision of another group removes it.
      for (const member of group.members) {
        if (!member.file.removed) entry(group, 'keep', member);
        else if (!standsAlone(group, member)) entry(group, 'remove', member, {chosen: member.file.chosen});
      }
    }
    for (const p of [...group.apart].sort((a, b) => a - b)) {
      const {a, b} = group.pairs[p];
      entry(group, 'not_duplicates', group.members[a], {with: group.members[b]});
    }
  }
  return entries;
}

function decisionsText() {
  const lines = decisions(entryOf).map((one) => '  ' + JSON.stringify(one));
  return `{"millrace_decisions": 1, "decisions": [${lines.length ? '\n' + lines.join(',\n') + '\n' : ''}]}\n`;
}

let exported = '';
function setExport() {
  if (exported) URL.revokeObjectURL(exported);
  exported = URL.createObjectURL(new Blob([decisionsText()], {type: 'application/json'}));
  $('export').href = exported;
  if (!groups.some(decided)) say('No group is decided yet: the file contains no decision.');
}
