'use strict';
// The page's data lies in <script type="application/json"> elements: #header, one .group with its .thumbs a
// group, and #end with the page's identity. Everything that comes from a file goes into the page as text
// (textContent), never as markup.
(() => {
  const $ = (id) => document.getElementById(id);
  const json = (element) => JSON.parse(element.textContent);

  const header = json($('header'));
  const pageId = json($('end')).id;
  const KINDS = ['identical', 'similar', 'recoloured', 'burst', 'related'];
  const SUGGESTS = new Set(['identical', 'similar']);
  const PAIRS_AT_FIRST = 8;
  const UNDO_STEPS = 500;

  // ---- Words -------------------------------------------------------------------------------------------

  function h(tag, attributes, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) {
      if (value === false || value === undefined || value === null) continue;
      if (name === 'on') {
        for (const [event, handler] of Object.entries(value)) element.addEventListener(event, handler);
      } else {
        element.setAttribute(name, value === true ? '' : value);
      }
    }
    element.append(...children.filter((child) => child !== null && child !== undefined));
    return element;
  }

  const number = (n) => n.toLocaleString('en-US');
  const plural = (n, one, many) => `${number(n)} ${n === 1 ? one : many || one + 's'}`;

  // The same words as the program's own: powers of 1024.
  function bytesText(bytes) {
    const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
    let unit = 0;
    while (bytes >= 1024 && unit + 1 < units.length) {
      bytes /= 1024;
      unit += 1;
    }
    const digits = unit === 0 || bytes >= 100 ? 0 : 1;
    return `${bytes.toFixed(digits)} ${units[unit]}`;
  }

  // Characters that steer a line or a terminal become visible, so a name cannot pretend to be another one.
  const CONTROL = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
  const visible = (text) =>
      text.replace(CONTROL, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);

  function nameAndFolder(path) {
    const slash = path.lastIndexOf('/');
    return [visible(path.slice(slash + 1)), visible(slash < 0 ? '' : path.slice(0, slash) || '/')];
  }

  // Where the browser can open the picture itself, or null: only a page on a disk may point into the disk.
  function addressOf(member) {
    if (location.protocol !== 'file:' || !member.path.startsWith('/')) return null;
    if (!member.path_base64) return 'file://' + encodeURI(member.path).replace(/[?#]/g, encodeURIComponent);
    const hex = (c) => '%' + c.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0');
    return 'file://' + atob(member.path_base64).replace(/[^\w/.-]/g, hex);
  }

  function dateOfChange(ns) {
    const date = new Date(Number(BigInt(ns) / 1000000n));
    const two = (n) => String(n).padStart(2, '0');
    return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ` +
           `${two(date.getHours())}:${two(date.getMinutes())}`;
  }

  const megapixels = (member) => member.width * member.height / 1e6;
  const scoreText = (score) => String(Math.round(score * 1000) / 1000);

  // ---- The model ---------------------------------------------------------------------------------------

  // One entry a file on disk: a file may stand in several groups (in an identical pair and in a burst),
  // and it can be removed only once.
  const files = [];
  const groups = [];

  {
    const fileOf = new Map();
    for (const script of document.querySelectorAll('script.group')) {
      const group = json(script);
      const index = groups.length;
      group.index = index;
      group.thumbs = script.nextElementSibling;
      group.state = null;  // null: undecided; 'marked': every member keeps or goes; 'not': not duplicates
      group.apart = new Set();  // numbers of the pairs that are not duplicates
      for (const member of group.members) {
        const key = (member.path_base64 ? 'b' + member.path_base64 : 'p' + member.path);
        let file = fileOf.get(key);
        if (file === undefined) {
          file = {removed: false, by: null, reference: false, size: member.size, groups: []};
          fileOf.set(key, file);
          files.push(file);
        }
        if (!file.groups.includes(group)) file.groups.push(group);
        if (member.reference) file.reference = true;
        member.file = file;
      }
      group.suggests = SUGGESTS.has(group.kind) &&
                       group.members.some((member) => member.keep || member.file.reference);
      group.reclaimable = 0;
      if (group.suggests) {
        for (const member of group.members) {
          if (!member.keep && !member.file.reference) group.reclaimable += member.size;
        }
      }
      // A group is as alike as its least alike pair; identical files need no pair to be told so.
      const scores = group.pairs.map((pair) => pair.score).filter((score) => score !== null);
      group.score = scores.length ? Math.min(...scores) : group.kind === 'identical' ? 1 : -1;
      groups.push(group);
      script.remove();
    }
  }

  const sums = {files: 0, bytes: 0, decided: 0};
  const decided = (group) => group.state !== null || group.apart.size > 0;

  // Every change goes through these three setters: they keep the sums right and remember what to undo.
  let step = null;  // of the change under way
  const undoSteps = [];

  function remember(group) {
    if (step && !step.groups.has(group)) {
      step.groups.set(group, {state: group.state, apart: new Set(group.apart)});
    }
  }
  // `by` is the group that asked for it: when that group is cleared, the file is given back.
  function setRemoved(file, removed, by) {
    if (file.removed === removed) return;
    if (step && !step.files.has(file)) step.files.set(file, {removed: file.removed, by: file.by});
    file.removed = removed;
    file.by = removed ? by : null;
    sums.files += removed ? 1 : -1;
    sums.bytes += removed ? file.size : -file.size;
    for (const group of file.groups) touched.add(group);
  }
  function setState(group, state) {
    if (group.state === state) return;
    remember(group);
    const before = decided(group);
    group.state = state;
    sums.decided += decided(group) - before;
    touched.add(group);
  }
  function setApart(group, pairs) {
    remember(group);
    const before = decided(group);
    group.apart = pairs;
    sums.decided += decided(group) - before;
    touched.add(group);
  }

  const touched = new Set();

  function change(work) {
    step = {groups: new Map(), files: new Map()};
    try {
      work();
    } finally {
      if (step.groups.size || step.files.size) {
        undoSteps.push(step);
        if (undoSteps.length > UNDO_STEPS) undoSteps.shift();
      }
      step = null;
      settle();
      saveSoon();
    }
  }

  function undo() {
    const last = undoSteps.pop();
    if (!last) {
      say('There is nothing to undo.');
      return;
    }
    for (const [file, was] of last.files) setRemoved(file, was.removed, was.by);
    for (const [group, was] of last.groups) {
      setState(group, was.state);
      setApart(group, was.apart);
    }
    settle();
    saveSoon();
    say('Undone.');
  }

  // Whether a survivor stays behind in every decided group of the file, and in the one in hand.
  function mayRemove(file, inHand) {
    return file.groups.every((group) => {
      if (group !== inHand && group.state !== 'marked') return true;
      return group.members.some((member) => member.file !== file && !member.file.removed);
    });
  }

  // A member that was told apart from every member that stays has no duplicate left: it stays too.
  function standsAlone(group, member) {
    if (group.apart.size === 0) return false;
    const index = group.members.indexOf(member);
    return group.members.every((other, o) => other === member || other.file.removed ||
        [...group.apart].some((p) => {
          const pair = group.pairs[p];
          return (pair.a === index && pair.b === o) || (pair.b === index && pair.a === o);
        }));
  }

  // What this group marked; what another one marked is not its to give back.
  function giveBack(group) {
    for (const {file} of group.members) {
      if (file.by === group) setRemoved(file, false, null);
    }
  }

  // Other groups may have marked all of an undecided group's pictures: then one has to be kept by hand first.
  const nobodyStays = (group) => group.members.every((member) => member.file.removed && member.file.by !== group);

  function accept(group) {
    if (nobodyStays(group)) return false;
    setState(group, 'marked');
    giveBack(group);
    if (!group.suggests) return true;
    const going = group.members.filter((member) => !member.keep && !member.file.reference);
    for (const {file} of going) {
      if (mayRemove(file, group)) setRemoved(file, true, group);
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
      setRemoved(member.file, remove, group);
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
        if (member.file.removed && standsAlone(group, member)) {
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

  // ---- What stays in the browser, and what leaves it -----------------------------------------------------

  const STORE = 'millrace:decisions:' + pageId;

  function restore() {
    try {
      for (const [index, state, removed, apart] of JSON.parse(localStorage.getItem(STORE)).groups) {
        const group = groups[index];
        if (state === 'not' || (state === 'marked' && !nobodyStays(group))) setState(group, state);
        setApart(group, new Set(apart.filter((p) => p in group.pairs)));
        for (const m of removed) {
          const {file} = group.members[m];
          if (!file.reference && mayRemove(file, group)) setRemoved(file, true, group);
        }
      }
    } catch (error) {
      // Nothing is kept here, or it is not ours: what could be read stands, the rest is undecided.
    }
  }

  let saveTimer = 0;
  function save() {
    clearTimeout(saveTimer);
    saveTimer = 0;
    const kept = [];
    for (const group of groups) {
      if (!decided(group)) continue;
      const removed = [];
      if (group.state === 'marked') {
        group.members.forEach((member, m) => {
          if (member.file.by === group) removed.push(m);
        });
      }
      kept.push([group.index, group.state, removed, [...group.apart]]);
    }
    let problem = '';
    try {
      if (kept.length) {
        localStorage.setItem(STORE, JSON.stringify({groups: kept}));
      } else {
        localStorage.removeItem(STORE);
      }
    } catch (error) {
      problem = 'This browser does not keep your marks for this page: save decisions.json before you leave.';
    }
    $('storage-warning').textContent = problem;
    $('storage-warning').hidden = problem === '';
  }
  function saveSoon() {
    if (!saveTimer) saveTimer = setTimeout(save, 150);
  }
  function saveNow() {
    if (saveTimer) save();
  }

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
      if (group.state === 'marked') {
        // A file goes into every group that it stands in: each has to name the ones that survive in it.
        for (const member of group.members) entry(group, member.file.removed ? 'remove' : 'keep', member);
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

  // ---- Messages ----------------------------------------------------------------------------------------

  let toastTimer = 0;
  function say(text, refusal = false) {
    const toast = $('toast');
    toast.textContent = text;
    toast.classList.toggle('refusal', refusal);
    toast.classList.add('on');
    clearTimeout(toastTimer);
    toastTimer = setTimeout(() => toast.classList.remove('on'), 4000);
  }

  function shake(group, member) {
    if (!group.view) return;
    const node = group.view.members[group.members.indexOf(member)].node;
    node.classList.remove('refused');
    void node.offsetWidth;  // so that the animation starts anew
    node.classList.add('refused');
  }

  // ---- One group on the page -----------------------------------------------------------------------------

  const list = $('groups');

  function thumbAddress(thumb) {
    if (typeof thumb === 'string') return 'data:image/jpeg;base64,' + thumb;
    const folder = String(Math.floor(thumb / 1000)).padStart(4, '0');
    return `${header.thumbs}${folder}/${String(thumb).padStart(6, '0')}.jpg`;
  }

  function memberView(group, member, m, thumb) {
    const [name, folder] = nameAndFolder(member.path);
    const dot = Math.max(0, name.lastIndexOf('.'));
    const largest = (of) => {
      const values = group.members.map(of);
      const most = Math.max(...values);
      return of(member) === most && values.some((value) => value < most);
    };
    const badge = (kind, text, title) => h('span', {class: 'badge ' + kind, title}, text);
    const image = thumb === null || thumb === undefined ?
        h('span', {class: 'none'}, 'no thumbnail') :
        h('img', {alt: '', src: thumbAddress(thumb), decoding: 'async', draggable: 'false'});
    const size = h('span', {class: largest((one) => one.size) ? 'most' : ''}, bytesText(member.size));
    const pixels = member.width && member.height ?
        h('span', {class: largest(megapixels) ? 'most' : ''}, `${member.width} × ${member.height}`) :
        h('span', {}, 'size unknown');
    const mega = megapixels(member);
    const date = member.date ?
        h('span', {title: 'captured'}, visible(member.date)) :
        h('span', {title: `last change of the file, ${dateOfChange(member.mtime_ns)}; no capture date`},
          'changed ' + dateOfChange(member.mtime_ns).slice(0, 10));

    const keep = h('button', {type: 'button', class: 'keep', tabindex: '-1', on: {
      click: () => mark(group, member, false)}}, 'Keep');
    const remove = h('button', {type: 'button', class: 'remove', tabindex: '-1', on: {
      click: () => mark(group, member, true)}}, 'Remove');

    const link = h('a', {class: 'name', title: visible(member.path), tabindex: '-1', href: addressOf(member),
      target: '_blank', rel: 'noopener'}, h('bdi', {}, name.slice(0, dot), h('wbr'), name.slice(dot)));
    const node = h('figure', {class: 'member', tabindex: '-1', role: 'group', 'data-m': m},
        h('div', {class: 'mat'}, image),
        h('figcaption', {class: 'side'},
          h('div', {class: 'badges'},
            h('span', {class: 'badge number', 'aria-hidden': 'true'}, String(m + 1)),
            member.keep && SUGGESTS.has(group.kind) ? badge('keep', '★ Keep', 'suggested: this one stays') : null,
            member.file.reference ? badge('reference', 'Reference', 'in a protected folder: never removed') : null,
            member.damaged ? badge('damaged', 'Damaged', 'could be decoded in part only') : null),
          h('div', {class: 'words'},
            link,
            h('div', {class: 'folder', title: visible(member.path)}, h('bdi', {}, folder)),
            h('div', {class: 'line'}, pixels, h('span', {}, mega ? `${mega.toFixed(mega < 10 ? 1 : 0)} MP` : '')),
            h('div', {class: 'line'}, size,
              member.camera ? h('span', {title: visible(member.camera)}, visible(member.camera)) : null),
            h('div', {class: 'more'}, date),
            member.companions ? h('div', {class: 'more', title: visible(member.companions.join('  '))},
              'with ' + member.companions.map((path) => nameAndFolder(path)[0]).join(', ')) : null,
            member.why ? h('div', {class: member.keep ? 'why' : 'why other'}, visible(member.why)) : null),
          h('div', {class: 'marks'}, keep, member.file.reference ? null : remove)));
    return {node, link, keep, remove, name};
  }

  function pairsView(group) {
    if (group.pairs.length === 0) return null;
    const order = group.pairs.map((_, p) => p);
    order.sort((p, q) => (group.pairs[q].score ?? -1) - (group.pairs[p].score ?? -1) || p - q);
    const buttons = new Map();
    const row = (p) => {
      const pair = group.pairs[p];
      const button = h('button', {type: 'button', on: {click: () => pairNotDuplicates(group, p)},
        'aria-label': `Pictures ${pair.a + 1} and ${pair.b + 1} are not duplicates`}, 'not duplicates');
      buttons.set(p, button);
      const far = Object.entries(pair.distances).map(([name, value]) => `${name} ${value}`).join(' · ');
      return h('li', {},
          h('span', {class: 'who'}, `${pair.a + 1} – ${pair.b + 1}`),
          h('span', {class: 'far'},
            pair.score === null ? null : h('b', {}, scoreText(pair.score)),
            (pair.score === null ? '' : '  ') + far),
          button);
    };
    const ul = h('ul', {}, ...order.slice(0, PAIRS_AT_FIRST).map(row));
    const box = h('div', {class: 'pairs', 'aria-label': 'Pairs: score and distances', role: 'group'}, ul);
    if (order.length > PAIRS_AT_FIRST) {
      const rest = h('button', {type: 'button', class: 'rest', on: {click: () => {
        ul.append(...order.slice(PAIRS_AT_FIRST).map(row));
        rest.remove();
        refresh(group);
      }}}, `all ${number(order.length)} pairs`);
      box.append(rest);
    }
    return {box, buttons};
  }

  const KIND_WORDS = {
    identical: 'Identical', similar: 'Similar', recoloured: 'Recoloured', burst: 'Burst', related: 'Related',
  };

  function fill(group) {
    if (group.view) return;
    const thumbs = json(group.thumbs);
    const view = {};
    view.members = group.members.map((member, m) => memberView(group, member, m, thumbs[m]));
    const pairs = pairsView(group);
    view.pairs = pairs ? pairs.buttons : new Map();
    view.pairsBox = pairs && pairs.box;
    view.state = h('span', {class: 'state'});
    view.accept = h('button', {type: 'button', class: 'accept', 'aria-keyshortcuts': 'a', on: {
      click: () => acceptOne(group)}}, SUGGESTS.has(group.kind) ? 'Accept suggestion' : 'Keep all');
    view.accept.disabled = SUGGESTS.has(group.kind) && !group.suggests;
    view.not = h('button', {type: 'button', 'aria-keyshortcuts': 'n', on: {
      click: () => notDuplicates(group)}}, 'Not duplicates');
    view.leave = h('button', {type: 'button', 'aria-keyshortcuts': 'u', title: 'leave undecided', on: {
      click: () => leaveUndecided(group)}}, 'Clear');
    const facts = [plural(group.members.length, 'picture')];
    if (group.reclaimable) facts.push(`${bytesText(group.reclaimable)} to free`);
    if (group.score >= 0 && group.pairs.length) facts.push(`score ${scoreText(group.score)}`);
    group.view = view;
    group.node.replaceChildren(
        h('div', {class: 'group-head'},
          h('h2', {}, KIND_WORDS[group.kind] || group.kind),
          h('span', {class: 'facts'}, facts.join(' · ')),
          view.state,
          h('div', {class: 'acts'}, view.accept, view.not, view.leave)),
        h('div', {class: 'strip'}, ...view.members.map((one) => one.node), pairs && pairs.box));
    group.node.style.height = '';
    placePairs(group);
    refresh(group);
  }

  // Far groups give back their elements and keep their height, so a long page stays light.
  function empty(group) {
    if (!group.view || group.node.contains(document.activeElement)) return;
    group.node.style.height = `${group.node.offsetHeight || guessHeight(group)}px`;
    group.node.replaceChildren();
    group.view = null;
  }

  function stateOf(group) {
    if (group.state === 'not') return ['not', 'Not duplicates'];
    if (group.state === 'marked') {
      const staying = group.members.filter((member) => !member.file.removed);
      const gone = group.members.length - staying.length;
      if (gone && staying.every((member) => member.damaged)) {
        return ['warn', `⚠ only damaged stay, ${gone} go`];
      }
      return ['marked', gone === 0 ? '✓ All stay' : `✓ ${staying.length} stay, ${gone} go`];
    }
    if (group.apart.size) return ['not', plural(group.apart.size, 'pair') + ' told apart'];
    return ['', ''];
  }

  function refresh(group) {
    const view = group.view;
    if (!view) return;
    const marked = group.state === 'marked';
    group.members.forEach((member, m) => {
      const one = view.members[m];
      const removed = member.file.removed;
      const kept = marked && !removed;
      one.node.classList.toggle('removed', removed);
      one.node.classList.toggle('kept', kept);
      one.keep.setAttribute('aria-pressed', String(kept));
      one.remove.setAttribute('aria-pressed', String(removed));
      const words = [`Picture ${m + 1} of ${group.members.length}`, one.name];
      if (removed) words.push(marked ? 'marked for removal' : 'marked for removal in another group');
      if (kept) words.push('stays');
      if (member.keep && SUGGESTS.has(group.kind)) words.push('suggested to keep');
      if (member.file.reference) words.push('reference, protected');
      if (member.damaged) words.push('damaged');
      one.node.setAttribute('aria-label', words.join(', '));
      for (const stop of [one.node, one.link, one.keep, one.remove]) {
        stop.tabIndex = m === (group.cursor || 0) ? 0 : -1;
      }
    });
    for (const [p, button] of view.pairs) {
      button.setAttribute('aria-pressed',
          String(group.apart.has(p) || (group.members.length === 2 && group.state === 'not')));
    }
    const [kind, words] = stateOf(group);
    view.state.className = 'state ' + kind;
    view.state.textContent = words;
    view.state.hidden = words === '';
    view.not.setAttribute('aria-pressed', String(group.state === 'not'));
    view.leave.hidden = !decided(group);
  }

  // After a change: the groups that it touched and the sums.
  function settle() {
    for (const group of touched) refresh(group);
    touched.clear();
    $('sum-files').textContent = number(sums.files);
    $('sum-files-word').textContent = sums.files === 1 ? 'file' : 'files';
    $('sum-bytes').textContent = bytesText(sums.bytes);
    $('sum-decided').textContent = number(sums.decided);
    $('meter').setAttribute('aria-valuenow', sums.decided);
    $('meter-fill').style.width = `${groups.length ? 100 * sums.decided / groups.length : 0}%`;
    $('undo').disabled = undoSteps.length === 0;
    countOpen();
  }

  // ---- Which groups are shown, and in which order --------------------------------------------------------

  const near = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      const group = groups[Number(entry.target.dataset.g)];
      if (entry.isIntersecting) fill(group); else empty(group);
    }
  }, {rootMargin: '1200px 0px'});

  let shown = [];
  const kindsOn = new Set();

  // The raster of page.css: how many members stand in a row, and what is left of the last row for the pairs.
  let narrow = false;
  let columns = 1;
  const inLastRow = (group) => group.members.length % columns;
  const pairsBeside = (group) => !narrow && inLastRow(group) !== 0;

  function measure() {
    narrow = matchMedia('(max-width: 640px)').matches;
    const inside = list.clientWidth - 58;
    columns = narrow ? 2 : Math.max(1, Math.floor((inside + 6) / 294));
    for (const group of groups) {
      if (group.view) placePairs(group);
      else group.node.style.height = `${guessHeight(group)}px`;
    }
  }

  function placePairs(group) {
    const first = pairsBeside(group) ? inLastRow(group) + 1 : 1;
    if (group.view.pairsBox) group.view.pairsBox.style.gridColumn = `${first} / -1`;
  }

  // Enough of a guess that the scroll bar tells the truth.
  function guessHeight(group) {
    const rows = Math.ceil(group.members.length / columns);
    const pairs = pairsBeside(group) ? 0 : Math.min(group.pairs.length, PAIRS_AT_FIRST + 1);
    if (narrow) return 84 + rows * 312 + pairs * 30;
    return 46 + rows * 174 + Math.ceil(pairs / Math.max(1, columns - 1)) * 21;
  }

  const textOf = (group) => group.text ||
      (group.text = group.members.map((member) => member.path.toLowerCase()).join('\n'));

  const SORTS = {
    reclaimable: (a, b) => b.reclaimable - a.reclaimable,
    members: (a, b) => b.members.length - a.members.length,
    score: (a, b) => b.score - a.score,
    path: (a, b) => (a.members[0].path < b.members[0].path ? -1 : a.members[0].path > b.members[0].path ? 1 : 0),
  };

  function arrange() {
    const words = $('filter').value.toLowerCase().split(/\s+/).filter(Boolean);
    const undecidedOnly = $('undecided').checked;
    const chosen = groups.filter((group) =>
        (kindsOn.size === 0 || kindsOn.has(group.kind)) &&
        (!undecidedOnly || !decided(group)) &&
        words.every((word) => textOf(group).includes(word)));
    const by = SORTS[$('sort').value];
    chosen.sort((a, b) => by(a, b) || a.index - b.index);
    const same = chosen.length === shown.length && chosen.every((group, i) => group === shown[i]);
    shown = chosen;
    if (!same || !list.firstChild) {
      const fragment = document.createDocumentFragment();
      for (const group of shown) fragment.append(group.node);
      list.replaceChildren(fragment);
    }
    $('nothing').hidden = shown.length > 0;
    $('nothing').textContent = groups.length === 0 ? 'No duplicates were found.' :
        undecidedOnly && sums.decided === groups.length ? 'Every group is decided. Save decisions.json to go on.' :
        'No group passes the filter.';
    countOpen();
  }

  // The button says how many groups it would decide.
  const open = () => shown.filter((group) =>
      !decided(group) && (group.suggests || !SUGGESTS.has(group.kind)) && !nobodyStays(group));
  function countOpen() {
    const count = open().length;
    $('accept-all').textContent = `Accept all shown (${number(count)})`;
    $('accept-all').disabled = count === 0;
  }

  function acceptAll() {
    let accepted = 0;
    change(() => open().forEach((group) => {
      if (accept(group)) accepted += 1;
    }));
    say(`${plural(accepted, 'suggestion')} accepted. z takes them back.`);
  }

  // ---- Moving about --------------------------------------------------------------------------------------

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

  // The group in hand, or the first one below the tools.
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
    if ($('help').open) return;
    if (target.matches('input[type="search"]')) {
      if (event.key === 'Escape' || event.key === 'Enter') {
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
      z: undo,
      o: () => inHand(() => {
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

  // ---- Start ---------------------------------------------------------------------------------------------

  function fillHead() {
    $('title').textContent = visible(header.title);
    $('folders').textContent = header.folders.map(visible).join('  ·  ');
    const total = (value, words) => h('div', {}, h('dt', {}, words), h('dd', {}, value));
    const totals = header.totals;
    $('totals').append(
        total(number(totals.files), 'files'),
        total(number(totals.pictures), 'pictures'),
        total(number(totals.groups), 'groups'),
        total(bytesText(totals.reclaimable), 'can be freed'));
    if (header.rule) $('notes').append(h('p', {}, visible(header.rule)));
    if (header.unreadable.length) {
      const items = h('ul', {});
      const fillItems = () => items.append(...header.unreadable.map((one) =>
          h('li', {}, h('b', {}, h('bdi', {}, visible(one.path))), ' ', visible(one.reason))));
      const details = h('details', {},
          h('summary', {}, `${plural(header.unreadable.length, 'file')} could not be read`), items);
      details.addEventListener('toggle', fillItems, {once: true});  // there may be very many
      $('notes').append(details);
    }
    $('rule').textContent = visible(header.rule);
    for (const kind of KINDS) {
      const count = groups.filter((group) => group.kind === kind).length;
      if (count === 0) continue;
      const button = h('button', {type: 'button', 'aria-pressed': 'false', 'data-kind': kind, on: {click: () => {
        if (!kindsOn.delete(kind)) kindsOn.add(kind);
        button.setAttribute('aria-pressed', String(kindsOn.has(kind)));
        arrange();
      }}}, KIND_WORDS[kind] + ' ', h('small', {}, number(count)));
      $('kinds').append(button);
    }
    $('kinds').hidden = $('kinds').childElementCount < 2;
    $('sum-groups').textContent = number(groups.length);
    $('meter').setAttribute('aria-valuemax', groups.length);
  }

  for (const group of groups) {
    group.node = h('article', {class: 'group', 'data-g': group.index,
      'aria-label': `${KIND_WORDS[group.kind] || group.kind}, ${plural(group.members.length, 'picture')}`});
    near.observe(group.node);
  }

  fillHead();
  restore();
  arrange();
  measure();  // the list has its scroll bar now
  settle();

  let filterTimer = 0;
  $('filter').addEventListener('input', () => {
    clearTimeout(filterTimer);
    filterTimer = setTimeout(arrange, 80);
  });
  $('undecided').addEventListener('change', arrange);
  $('sort').addEventListener('change', () => {
    arrange();
    scrollTo(0, 0);
  });
  $('accept-all').addEventListener('click', acceptAll);
  $('help-button').addEventListener('click', showHelp);
  $('undo').addEventListener('click', undo);
  $('export').addEventListener('click', setExport);
  document.addEventListener('keydown', onKey);
  list.addEventListener('focusin', (event) => {
    const node = event.target.closest('.group');
    if (!node) return;
    const group = groups[Number(node.dataset.g)];
    const member = event.target.closest('.member');
    if (member) group.cursor = Number(member.dataset.m);
    refresh(group);
    setCurrent(group);
  });
  // After the mouse pressed a button the keys go on from its picture: space must not press the button again.
  list.addEventListener('click', (event) => {
    const node = event.target.closest('.group');
    if (!node || event.detail === 0 || event.target.closest('.pairs, .name[href]')) return;
    const group = groups[Number(node.dataset.g)];
    const member = event.target.closest('.member');
    focusMember(group, member ? Number(member.dataset.m) : group.cursor || 0, '');
  });
  // What stays in sight must not cover the group that the keys move to.
  function fitPadding() {
    const sticks = getComputedStyle($('tools')).position === 'sticky';
    const top = sticks ? $('tools').offsetHeight : 0;
    document.documentElement.style.scrollPadding = `${top + 8}px 0 ${$('bar').offsetHeight + 8}px`;
  }
  fitPadding();
  let widthTimer = 0;
  addEventListener('resize', () => {
    clearTimeout(widthTimer);
    widthTimer = setTimeout(() => {
      measure();
      fitPadding();
    }, 200);
  });
  addEventListener('pagehide', saveNow);
  document.addEventListener('visibilitychange', saveNow);
})();
