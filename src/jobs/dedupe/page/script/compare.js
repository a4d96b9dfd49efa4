// Compares two pictures of a group at large size: the dialog around the lens, with its keys and mouse actions.

const MODES = {side: 'side by side', swipe: 'swipe', flicker: 'flicker', difference: 'difference'};
const comparing = {group: null, one: 0, two: 1};
const loaded = new Map();  // promises of pictures by their address, the latest last
const MOST_LOADED = 8;

// Returns the whole picture, as large as available: a preview in a review; on a disk the file itself if the browser can
// open it, else its thumbnail.
function pictureOf(group, m, turn = 1) {
  const member = group.members[m];
  const thumb = json(group.thumbs)[m];
  const id = served ? `/picture/${thumb}?turn=${turn}` : addressOf(member) || `thumb ${group.index} ${m}`;
  if (!loaded.has(id)) {
    const picture = loadPicture(id, member, thumb, turn);
    loaded.set(id, picture);
    if (loaded.size > MOST_LOADED) loaded.delete(loaded.keys().next().value);
    picture.then(({whole}) => {
      if (!whole) loaded.delete(id);
    });
  }
  return loaded.get(id);
}

async function loadPicture(id, member, thumb, turn) {
  const picture = lensPicture(member.width || 1, member.height || 1, turn);
  const image = async (src) => {
    const element = new Image();
    element.src = src;
    await element.decode();
    return element;
  };
  try {
    if (served) {
      picture.id = thumb;
      const answer = await askServer(id);
      const [width, height] = answer.headers.get('X-Millrace-Sides').split('x').map(Number);
      Object.assign(picture, {width, height});
      picture.whole = await createImageBitmap(await answer.blob());
    } else {
      const small = thumb === null || thumb === undefined ? null : thumbAddress(thumb);
      try {
        picture.whole = await image(addressOf(member));
        Object.assign(picture, {width: picture.whole.naturalWidth, height: picture.whole.naturalHeight});
      } catch (error) {
        if (!small) throw error;
        picture.whole = await image(small);
        picture.problem = 'preview only: the browser cannot open this file; millrace dedupe review shows it';
      }
    }
  } catch (error) {
    picture.problem = member.file.gone ? 'already removed' : served ? visible(error.message) : 'cannot be shown';
  }
  return picture;
}

// Alignment of two pictures by the review: {turn, map}; {} if they cannot be aligned.
const meetings = new Map();
function meetingOf(group, one, two) {
  const ids = json(group.thumbs);
  const path = `/meeting/${ids[one]}/${ids[two]}`;
  if (!meetings.has(path)) {
    const met = askServer(path).then((answer) => answer.json());
    meetings.set(path, met);
    met.catch(() => meetings.delete(path));
  }
  return meetings.get(path);
}

async function showPair() {
  const {group, one, two} = comparing;
  const there = () => $('compare').open && comparing.group === group && comparing.one === one && comparing.two === two;
  canvas.setAttribute('aria-busy', 'true');
  // The previous pictures must not be taken for the new ones.
  Object.assign(lens, {one: null, two: null, place: null, map: null, met: !served});
  drawSoon();
  const [first, second] = await Promise.all([pictureOf(group, one), pictureOf(group, two)]);
  if (!there()) return;
  // A place is the area in which a picture differs from the one that it was checked against, which has no place. Other
  // pairs have no known place.
  const places = [group.members[one].place, group.members[two].place];
  const place = places[0] && places[1] ? null : places[0] || places[1] || null;
  Object.assign(lens, {one: first, two: second, place, placeOf: places[0] ? first : second, shows: 0});
  showWords();
  drawSoon();
  if (served) await layOver(group, one, two, there);
  if (there()) canvas.setAttribute('aria-busy', 'false');
}

// Aligns the two after both are shown, since that takes longer.
async function layOver(group, one, two, there) {
  let met = {};
  try {
    met = await meetingOf(group, one, two);
    const second = met.turn > 1 ? await pictureOf(group, two, met.turn) : null;
    if (!there()) return;
    if (second && second.whole) {
      if (lens.placeOf === lens.two) lens.place = null;  // it belongs to the picture before its rotation
      lens.two = second;
    }
  } catch (error) {
    if (!there()) return;
  }
  const laid = met.map && met.map[1] > 0.05 && met.map[5] > 0.05;
  Object.assign(lens, {map: laid ? met.map : null, turned: met.turn > 1, met: true});
  showWords();
  drawSoon();
}

function describeSide(m) {
  const {group} = comparing;
  const member = group.members[m];
  const [name, folder] = nameAndFolder(member.path);
  const state = group.state === 'whole' || member.file.removed ? 'remove' : group.state === 'marked' ? 'keep' : '';
  const facts = [member.width ? `${member.width} × ${member.height}` : '', bytesText(member.size),
    member.date ? visible(captureText(member.date)) : ''].filter(Boolean).join(' · ');
  return [h('b', {}, `${m + 1} `, h('bdi', {}, name)), h('span', {class: 'folder', title: visible(member.path)}, h('bdi', {}, folder)),
    h('span', {}, facts),
    h('span', {class: state === 'remove' ? 'goes' : 'stays'}, [state, member.why ? visible(member.why) : ''].filter(Boolean).join(': '))];
}

function showWords() {
  const {group, one, two} = comparing;
  $('compare-one').replaceChildren(...describeSide(one));
  $('compare-two').replaceChildren(...describeSide(two));
  for (const button of $('compare-modes').children) {
    button.setAttribute('aria-pressed', String(button.dataset.mode === lens.mode));
  }
  const pair = group.pairs.find(({a, b}) => (a === one && b === two) || (a === two && b === one));
  const words = [];
  if (lens.one) {
    const {fit, scale} = lensScale();
    words.push(lens.scale > 0 ? `${Math.round(100 * scale)} %` : `fits, ${Math.round(100 * fit)} %`);
    if (lens.two && !lens.met) words.push('aligning …');
    else if (lens.map) words.push(lens.turned ? 'aligned, the second one rotated or mirrored' : 'aligned');
    else if (lens.two) words.push(served ? 'cannot be aligned' : 'not aligned (millrace dedupe review aligns them)');
    for (const [m, picture] of [[one, lens.one], [two, lens.two]]) {
      if (picture && picture.problem) words.push(`${m + 1}: ${picture.problem}`);
    }
  }
  if (lens.mode === 'flicker') words.push(`shows ${(lens.shows ? two : one) + 1}`);
  if (lens.mode === 'difference') words.push('difference, 4 times as bright');
  if (pair && pair.score !== null) words.push(`score ${scoreText(pair.score)}`);
  if (lens.place) words.push('the frame marks where the detailed check found a difference');
  $('compare-words').textContent = words.join(' · ');
  canvas.setAttribute('aria-label', `Pictures ${one + 1} and ${two + 1}, ${MODES[lens.mode]}. ${words.join('. ')}`);
}

let flickering = 0;
function setMode(mode) {
  lens.mode = mode;
  clearInterval(flickering);
  const still = matchMedia('(prefers-reduced-motion: reduce)').matches;
  if (mode === 'flicker' && !still) flickering = setInterval(flick, 600);
  showWords();
  drawSoon();
}
function flick() {
  lens.shows = 1 - lens.shows;
  showWords();
  drawSoon();
}

function zoomTo(scale, at) {
  if (!lens.one) return;
  const before = lensScale().scale;
  const {fit} = lensScale();
  const next = Math.min(16, scale);
  if (at && next > fit) {
    // Keeps the point under the pointer in place.
    const ground = lensGround();
    const pane = lensPanes().find((one) => at.x >= one.x && at.x < one.x + one.w && at.y >= one.y && at.y < one.y + one.h) || lensPanes()[0];
    const moved = (place, centre, side) => (place - centre) * (1 / before - 1 / next) / side;
    lens.x += moved(at.x, pane.x + pane.w / 2, ground.width);
    lens.y += moved(at.y, pane.y + pane.h / 2, ground.height);
  }
  lens.scale = next <= fit ? 0 : next;
  showWords();
  drawSoon();
}
function zoomBy(factor) {
  if (lens.one) zoomTo(lensScale().scale * factor);
}
function pan(x, y) {
  if (!lens.one) return;
  const ground = lensGround();
  const {scale} = lensScale();
  lens.x += x * lensPanes()[0].w / (scale * ground.width);
  lens.y += y * lensPanes()[0].h / (scale * ground.height);
  drawSoon();
}

// The first is the kept picture, or the suggested one; the second is the current one, or the next.
function startPair(group) {
  const stays = group.members.findIndex((member) => group.state === 'marked' ? !member.file.removed : member.keep);
  const one = Math.max(0, stays);
  const cursor = group.cursor || 0;
  const two = cursor !== one ? cursor : (one + 1) % group.members.length;
  Object.assign(comparing, {group, one, two});
  Object.assign(lens, {one: null, two: null, x: 0.5, y: 0.5, scale: 0});
}

function openCompare(group) {
  startPair(group);
  if (!$('compare').open) $('compare').showModal();
  canvas.focus();
  setMode(lens.mode);
  showPair();
}

function otherPicture(by) {
  const count = comparing.group.members.length;
  do {
    comparing.two = (comparing.two + by + count) % count;
  } while (comparing.two === comparing.one);
  comparing.group.cursor = comparing.two;
  showWords();
  showPair();
}
function otherGroup(by) {
  const at = shown.indexOf(comparing.group) + by;
  if (at < 0 || at >= shown.length) {
    say(at < 0 ? 'This is the first group.' : 'This is the last group.');
    return;
  }
  fill(shown[at]);
  setCurrent(shown[at]);
  openCompare(shown[at]);
}

// Handles the keys of the comparison.
function onCompareKey(event) {
  const {group} = comparing;
  const zoomed = lens.one && lens.scale > 0;
  const arrow = (x, y) => {
    if (zoomed) pan(x / 8, y / 8);
    else if (lens.mode === 'swipe' && x) moveSwipe(lens.swipe + x / 20);
    else if (x) otherPicture(x);
  };
  const decide = (work) => {
    work();
    showWords();
  };
  const actions = {
    s: () => setMode('side'),
    w: () => setMode('swipe'),
    f: () => {
      if (lens.mode !== 'flicker') {
        setMode('flicker');
        return;
      }
      clearInterval(flickering);
      flick();
    },
    d: () => setMode('difference'),
    m: () => {
      lens.marks = !lens.marks;
      drawSoon();
    },
    '+': () => zoomBy(1.5),
    '=': () => zoomBy(1.5),
    '-': () => zoomBy(1 / 1.5),
    0: () => zoomTo(0),
    1: () => zoomTo(1),
    2: () => zoomTo(2),
    p: goToPlace,
    '[': () => otherPicture(-1),
    ']': () => otherPicture(1),
    x: () => {
      Object.assign(comparing, {one: comparing.two, two: comparing.one});
      showPair();
    },
    j: () => otherGroup(1),
    k: () => otherGroup(-1),
    a: () => decide(() => acceptOne(group)),
    n: () => decide(() => notDuplicates(group)),
    u: () => decide(() => leaveUndecided(group)),
    z: () => decide(undo),
    ' ': () => decide(() => mark(group, group.members[comparing.two], !group.members[comparing.two].file.removed)),
    ArrowLeft: () => arrow(-1, 0),
    ArrowRight: () => arrow(1, 0),
    ArrowUp: () => arrow(0, -1),
    ArrowDown: () => arrow(0, 1),
    c: () => $('compare').close(),
    '?': showHelp,
  };
  if (event.key === ' ' && event.target.matches('button')) return;
  const action = actions[event.key];
  if (!action) return;
  event.preventDefault();
  action();
}

function moveSwipe(to) {
  lens.swipe = Math.max(0, Math.min(1, to));
  drawSoon();
}

// Zooms so that the marked place fills half of the width or height.
function goToPlace() {
  if (!lens.place || !lens.one) {
    say('No area is marked: the detailed check found no changed area.');
    return;
  }
  const [left, top, right, bottom] = placeOnGround();
  const ground = lensGround();
  const pane = lensPanes()[0];
  lens.x = (left + right) / 2;
  lens.y = (top + bottom) / 2;
  zoomTo(Math.min(4, pane.w / (2 * (right - left) * ground.width), pane.h / (2 * (bottom - top) * ground.height)));
}

{
  for (const [mode, words] of Object.entries(MODES)) {
    $('compare-modes').append(h('button', {type: 'button', 'data-mode': mode, 'aria-pressed': 'false',
      'aria-keyshortcuts': {side: 's', swipe: 'w', flicker: 'f', difference: 'd'}[mode],
      on: {click: () => setMode(mode)}}, words));
  }
  $('compare-close').addEventListener('click', () => $('compare').close());
  $('compare').addEventListener('close', () => {
    clearInterval(flickering);
    const {group} = comparing;
    if (group) focusMember(group, comparing.two, 'group');
  });
  const spot = (event) => {
    const box = canvas.getBoundingClientRect();
    return {x: (event.clientX - box.left) * devicePixelRatio, y: (event.clientY - box.top) * devicePixelRatio};
  };
  canvas.addEventListener('wheel', (event) => {
    event.preventDefault();
    if (lens.one) zoomTo(lensScale().scale * Math.exp(-event.deltaY / 400), spot(event));
  }, {passive: false});
  let held = null;
  canvas.addEventListener('pointerdown', (event) => {
    held = spot(event);
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener('pointermove', (event) => {
    if (!held || !lens.one) return;
    const at = spot(event);
    if (lens.mode === 'swipe' && lens.scale === 0) {
      moveSwipe(at.x / canvas.width);
    } else {
      pan((held.x - at.x) / lensPanes()[0].w, (held.y - at.y) / lensPanes()[0].h);
    }
    held = at;
  });
  canvas.addEventListener('pointerup', () => {
    held = null;
  });
  canvas.addEventListener('dblclick', (event) => {
    if (lens.one) zoomTo(lens.scale > 0 ? 0 : 1, spot(event));
  });
  new ResizeObserver(drawSoon).observe(canvas.parentElement);
}
