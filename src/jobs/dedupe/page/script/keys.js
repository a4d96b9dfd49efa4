// Moves between groups and pictures, and handles the keys.

let current = null;

function setCurrent(group) {
  if (current === group) return;
  if (current) current.node.classList.remove('current');
  current = group;
  if (current) current.node.classList.add('current');
}

function focusMember(group, m, scroll) {
  fill(group);
  group.cursor = Math.max(0, Math.min(m, group.members.length - 1));
  refresh(group);
  setCurrent(group);
  const node = group.view.members[group.cursor].node;
  node.focus({preventScroll: true});
  if (scroll === 'group') group.node.scrollIntoView({block: 'nearest'});
  if (scroll) node.scrollIntoView({block: 'nearest', inline: 'nearest'});
}

// Returns the current group, or the first one below the tools.
function currentOrFirst() {
  if (current && shown.includes(current)) return current;
  return shown.find((group) => group.node.getBoundingClientRect().bottom > 120) || shown[0] || null;
}

function move(by) {
  if (shown.length === 0) return;
  if (!current || !shown.includes(current)) {
    focusMember(currentOrFirst(), 0, 'group');
    return;
  }
  const at = shown.indexOf(current) + by;
  if (at < 0 || at >= shown.length) {
    say(at < 0 ? 'This is the first group.' : 'This is the last group.');
    return;
  }
  focusMember(shown[at], shown[at].cursor || 0, 'group');
}

function onKey(event) {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
  const target = event.target;
  if ($('help').open || $('whole').open || $('carry').open) return;
  if ($('compare').open) {
    onCompareKey(event);
    return;
  }
  if (target.matches('input[type="search"]')) {
    if (event.key === 'Escape' || event.key === 'Enter') {
      if (event.key === 'Enter' && target.form) return;  // submits the form of the rule
      if (event.key === 'Escape') target.value = '';
      arrange();
      event.preventDefault();
      target.blur();
      if (shown.length) focusMember(currentOrFirst(), 0, 'group');
    }
    return;
  }
  if (target.matches('select, textarea')) return;
  const group = currentOrFirst();
  const inHand = (work) => {
    if (!group) return;
    if (group !== current) focusMember(group, group.cursor || 0, 'group');
    work();
  };
  const actions = {
    j: () => move(1),
    k: () => move(-1),
    a: () => inHand(() => acceptOne(group)),
    n: () => inHand(() => notDuplicates(group)),
    u: () => inHand(() => leaveUndecided(group)),
    x: () => inHand(() => removeWhole(group)),
    r: () => {
      $('rule-path').focus();
      $('rule-path').select();
    },
    z: undo,
    c: () => inHand(() => openCompare(group)),
    o: () => inHand(() => {
      if (served) {
        openCompare(group);
        return;
      }
      const link = group.view.members[group.cursor || 0].node.querySelector('.name[href]');
      if (link) link.click();
    }),
    '/': () => {
      $('filter').focus();
      $('filter').select();
    },
    '?': showHelp,
    ArrowLeft: () => inHand(() => focusMember(group, (group.cursor || 0) - 1, 'member')),
    ArrowRight: () => inHand(() => focusMember(group, (group.cursor || 0) + 1, 'member')),
    ' ': () => inHand(() => {
      const member = group.members[group.cursor || 0];
      mark(group, member, !member.file.removed);
    }),
  };
  // A button or a link under the focus keeps its own space bar.
  if (event.key === ' ' && target.matches('button, a, input, summary')) return;
  const action = actions[event.key];
  if (!action) return;
  event.preventDefault();
  action();
}

function showHelp() {
  $('help').showModal();
}
