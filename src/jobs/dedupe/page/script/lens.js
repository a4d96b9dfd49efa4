// Two pictures on one canvas: side by side, swiped, flickering, or their difference; moved and enlarged together.
//
// Places are fractions of the ground's sides. The ground is the picture that contains the other if the two are aligned,
// else the larger one. Without an alignment, the other is stretched over it if both have one shape, else centered in it.

const lens = {
  one: null, two: null, mode: 'side', x: 0.5, y: 0.5, scale: 0, swipe: 0.5, shows: 0, place: null, placeOf: null, marks: true,
  met: false, turned: false,  // the alignment is known; the second is rotated or mirrored for it
  map: null,  // position of a point of the first in the second, in fractions of their sides from -0.5 to 0.5
};
const LONGEST_PART = 2048;

// State of a picture: its sides, the loaded whole, and a loaded region in full resolution.
function lensPicture(width, height, turn) {
  return {width, height, turn, whole: null, part: null, partAt: null, asked: '', problem: ''};
}

const sameShape = (a, b) => Math.abs(a.width * b.height - b.width * a.height) <= 0.02 * a.width * b.height;

function lensGround() {
  const {one, two, map} = lens;
  if (two && map) return map[1] * map[5] >= 1 ? one : two;
  return !two || one.width * one.height >= two.width * two.height ? one : two;
}

// Returns the position of a picture on the ground, in the pixels of the ground.
function lensPlace(picture) {
  const ground = lensGround();
  if (picture === ground) return {x: 0, y: 0, w: ground.width, h: ground.height};
  if (lens.map) {
    const [dx, sx, , dy, , sy] = lens.map;
    const of = (shift, scale, side) => (ground === lens.two ? {at: (shift - scale / 2 + 0.5) * side, long: scale * side} :
      {at: ((-0.5 - shift) / scale + 0.5) * side, long: side / scale});
    const across = of(dx, sx, ground.width);
    const down = of(dy, sy, ground.height);
    return {x: across.at, y: down.at, w: across.long, h: down.long};
  }
  if (sameShape(picture, ground)) return {x: 0, y: 0, w: ground.width, h: ground.height};
  const scale = Math.min(ground.width / picture.width, ground.height / picture.height);
  const w = picture.width * scale;
  const h = picture.height * scale;
  return {x: (ground.width - w) / 2, y: (ground.height - h) / 2, w, h};
}

// Returns the area that the detailed check marked, in fractions of the ground's sides.
function placeOnGround() {
  const ground = lensGround();
  const at = lensPlace(lens.placeOf);
  return lens.place.map((share, i) => (i % 2 ? (at.y + share * at.h) / ground.height : (at.x + share * at.w) / ground.width));
}

const canvas = $('lens');
const pen = canvas.getContext('2d');
const sheet = document.createElement('canvas').getContext('2d');  // for drawing one picture

// Panes of the canvas that show the same area: two side by side, or one.
function lensPanes() {
  const gap = lens.mode === 'side' ? 2 * devicePixelRatio : 0;
  const beside = canvas.width >= canvas.height;
  if (lens.mode !== 'side' || !lens.two) return [{x: 0, y: 0, w: canvas.width, h: canvas.height}];
  if (beside) {
    const w = (canvas.width - gap) / 2;
    return [{x: 0, y: 0, w, h: canvas.height}, {x: w + gap, y: 0, w, h: canvas.height}];
  }
  const h = (canvas.height - gap) / 2;
  return [{x: 0, y: 0, w: canvas.width, h}, {x: 0, y: h + gap, w: canvas.width, h}];
}

// Returns the pixels of the canvas per pixel of the ground; a scale of 0 fits all of it.
function lensScale() {
  const ground = lensGround();
  const pane = lensPanes()[0];
  const fit = Math.min(pane.w / ground.width, pane.h / ground.height);
  return {fit, scale: lens.scale > 0 ? Math.max(lens.scale, Math.min(fit, 1)) : fit};
}

function lensClamp() {
  const ground = lensGround();
  const pane = lensPanes()[0];
  const {scale} = lensScale();
  const half = (side, length) => Math.min(0.5, length / (2 * scale * side));
  const within = (value, share) => Math.max(share, Math.min(1 - share, value));
  lens.x = within(lens.x, half(ground.width, pane.w));
  lens.y = within(lens.y, half(ground.height, pane.h));
}

// The ground's corner within a pane.
function lensCorner(pane) {
  const ground = lensGround();
  const {scale} = lensScale();
  return {x: pane.x + pane.w / 2 - lens.x * ground.width * scale, y: pane.y + pane.h / 2 - lens.y * ground.height * scale,
    scale};
}

function drawPicture(picture, pane, to = pen) {
  const {x, y, scale} = lensCorner(pane);
  const at = lensPlace(picture);
  const own = at.w / picture.width * scale;  // pixels of the canvas per pixel of the picture
  to.imageSmoothingEnabled = own < 1.5;
  to.imageSmoothingQuality = 'high';
  // Rounds to whole pixels: a fraction at an edge would show as a difference, and would blur a picture at 100 %.
  const draw = (image, part) => {
    const [left, top] = [Math.round(x + at.x * scale + part.x * own), Math.round(y + at.y * scale + part.y * own)];
    to.drawImage(image, left, top, Math.round(x + at.x * scale + (part.x + part.w) * own) - left,
        Math.round(y + at.y * scale + (part.y + part.h) * own) - top);
  };
  if (picture.whole) draw(picture.whole, {x: 0, y: 0, w: picture.width, h: picture.height});
  if (picture.part && own * picture.width > picture.whole.width) draw(picture.part, picture.partAt);
}

function inPane(pane, work) {
  pen.save();
  pen.beginPath();
  pen.rect(pane.x, pane.y, pane.w, pane.h);
  pen.clip();
  work();
  pen.restore();
}

function drawPlace(pane) {
  if (!lens.place || !lens.marks) return;
  const ground = lensGround();
  const {x, y, scale} = lensCorner(pane);
  const [left, top, right, bottom] = placeOnGround();
  const edge = 2 * devicePixelRatio;
  const sides = [x + left * ground.width * scale, y + top * ground.height * scale,
    (right - left) * ground.width * scale, (bottom - top) * ground.height * scale];
  pen.lineWidth = 2 * edge;
  pen.strokeStyle = '#ffffffb0';
  pen.strokeRect(sides[0] - edge, sides[1] - edge, sides[2] + 2 * edge, sides[3] + 2 * edge);
  pen.lineWidth = edge;
  pen.strokeStyle = '#ff3d2e';
  pen.strokeRect(sides[0] - edge, sides[1] - edge, sides[2] + 2 * edge, sides[3] + 2 * edge);
}

// Draws the difference, four times as bright, so that an eye sees it. Each picture is first drawn on its own canvas, its
// region over the whole: each draw with "difference" subtracts once more, and browsers scale such draws differently.
function drawDifference(pane) {
  Object.assign(sheet.canvas, {width: canvas.width, height: canvas.height});
  for (const [picture, mode] of [[lens.one, 'source-over'], [lens.two, 'difference']]) {
    sheet.clearRect(0, 0, canvas.width, canvas.height);
    drawPicture(picture, pane, sheet);
    pen.globalCompositeOperation = mode;
    pen.drawImage(sheet.canvas, 0, 0);
  }
  pen.globalCompositeOperation = 'lighter';
  for (let i = 0; i < 2; ++i) pen.drawImage(canvas, 0, 0);
  pen.globalCompositeOperation = 'source-over';
}

function drawLens() {
  const box = canvas.parentElement;
  const width = Math.max(1, Math.round(box.clientWidth * devicePixelRatio));
  const height = Math.max(1, Math.round(box.clientHeight * devicePixelRatio));
  if (canvas.width !== width || canvas.height !== height) {
    Object.assign(canvas, {width, height});
    if (comparing.group) showWords();
  }
  pen.globalCompositeOperation = 'source-over';
  pen.clearRect(0, 0, width, height);
  if (!lens.one) return;
  lensClamp();
  const panes = lensPanes();
  const all = panes[0];
  if (!lens.two) {
    inPane(all, () => drawPicture(lens.one, all));
  } else if (lens.mode === 'side') {
    inPane(panes[0], () => drawPicture(lens.one, panes[0]));
    inPane(panes[1], () => drawPicture(lens.two, panes[1]));
  } else if (lens.mode === 'swipe') {
    const at = lens.swipe * all.w;
    inPane({...all, w: at}, () => drawPicture(lens.one, all));
    inPane({...all, x: at, w: all.w - at}, () => drawPicture(lens.two, all));
    pen.fillStyle = '#ff3d2e';
    pen.fillRect(at - devicePixelRatio, 0, 2 * devicePixelRatio, height);
  } else if (lens.mode === 'flicker') {
    inPane(all, () => drawPicture(lens.shows ? lens.two : lens.one, all));
  } else {
    inPane(all, () => drawDifference(all));
  }
  for (const pane of panes) inPane(pane, () => drawPlace(pane));
  askForParts();
}

let drawing = false;
function drawSoon() {
  if (drawing) return;
  drawing = true;
  requestAnimationFrame(() => {
    drawing = false;
    drawLens();
  });
}

// Requests the visible region from the picture itself if it is enlarged beyond the preview's pixels.
let partTimer = 0;
function askForParts() {
  if (!served) return;
  clearTimeout(partTimer);
  partTimer = setTimeout(() => {
    for (const picture of [lens.one, lens.two]) {
      if (picture && picture.whole) askForPart(picture);
    }
  }, 120);
}

async function askForPart(picture) {
  const pane = lensPanes()[0];
  const {x, y, scale} = lensCorner({x: 0, y: 0, w: pane.w, h: pane.h});
  const at = lensPlace(picture);
  const own = at.w / picture.width * scale;
  if (own * picture.width <= picture.whole.width * 1.01 || picture.whole.width >= picture.width) return;
  const from = (corner, offset) => Math.max(0, Math.floor(-(corner + offset * scale) / own) - 64);
  const left = from(x, at.x);
  const top = from(y, at.y);
  const w = Math.min(LONGEST_PART, Math.ceil(pane.w / own) + 128, picture.width - left);
  const h = Math.min(LONGEST_PART, Math.ceil(pane.h / own) + 128, picture.height - top);
  // The region would be larger than one request may be. At that scale, the preview is enough.
  if (w <= 0 || h <= 0 || pane.w / own > LONGEST_PART || pane.h / own > LONGEST_PART) return;
  const path = `/region/${picture.id}?turn=${picture.turn}&x=${left}&y=${top}&w=${w}&h=${h}`;
  if (picture.asked === path) return;
  picture.asked = path;
  try {
    const bitmap = await createImageBitmap(await (await askServer(path)).blob());
    if (picture.asked !== path) return;
    picture.part = bitmap;
    picture.partAt = {x: left, y: top, w, h};
  } catch (error) {
    say(visible(error.message), true);
  }
  drawSoon();
}
