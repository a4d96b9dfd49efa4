// What leaves the browser: decisions.json, which millrace dedupe apply reads.

function decisions() {
  const entries = [];
  const entry = (group, action, member) => {
    const one = {group: group.id, action, path: member.path};
    if (member.path_base64) one.path_base64 = member.path_base64;
    one.size = member.size;
    one.mtime_ns = member.mtime_ns;
    one.hash = member.hash;
    entries.push(one);
    return one;
  };
  for (const group of groups) {
    if (group.state === 'not') {
      for (const member of group.members) entry(group, 'not_duplicates', member);
      continue;
    }
    if (group.state === 'whole') {
      // The number says of how many members it was asked: it holds for no fewer.
      const all = {chosen: true, whole_group: group.members.length};
      for (const member of group.members) Object.assign(entry(group, 'remove', member), all);
    }
    if (group.state === 'marked') {
      // A file goes into every group that it stands in: each has to name the ones that survive in it. Only where it
      // was told apart from all of those, it goes because of another group alone.
      for (const member of group.members) {
        if (!member.file.removed) entry(group, 'keep', member);
        else if (!standsAlone(group, member)) {
          const going = entry(group, 'remove', member);
          if (member.file.chosen) going.chosen = true;
        }
      }
    }
    for (const p of [...group.apart].sort((a, b) => a - b)) {
      const {a, b} = group.pairs[p];
      entry(group, 'not_duplicates', group.members[a]).with = group.members[b].hash;
    }
  }
  return {millrace_decisions: 1, decisions: entries};
}

function decisionsText() {
  const all = decisions();
  const lines = all.decisions.map((one) => '  ' + JSON.stringify(one));
  return `{"millrace_decisions": 1, "decisions": [${lines.length ? '\n' + lines.join(',\n') + '\n' : ''}]}\n`;
}

let exported = '';
function setExport() {
  if (exported) URL.revokeObjectURL(exported);
  exported = URL.createObjectURL(new Blob([decisionsText()], {type: 'application/json'}));
  $('export').href = exported;
  if (sums.decided === 0) say('No group is decided yet: the file holds no decision.');
}
