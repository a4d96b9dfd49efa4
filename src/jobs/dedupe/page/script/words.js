// Creates elements, and formats numbers, sizes, names and dates.

const $ = (id) => document.getElementById(id);

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

// Uses the same units as the program: powers of 1024.
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

// Returns the URL of the picture itself, or null: only a page on a disk may point into the disk.
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

// EXIF writes a date with colons, and most makers' names once more in the model's.
const captureText = (date) => date.replace(/^(\d{4}):(\d\d):(\d\d)/, '$1-$2-$3');
// Contents of a file besides its picture, for which the name in JSON is not clear to people.
const HOLDS = {film: 'a video', depth: 'samples of more than 8 bits', pages: 'further pages', frames: 'further frames',
  'raw data': 'RAW data',
  sequence: 'a sequence of frames', unknown: 'unrecognized data'};
const holdsText = (kinds) => 'also contains ' + kinds.map((kind) => HOLDS[kind] || visible(kind)).join(', ');
const cameraText = (camera) => camera.replace(/^(\S+) (?=\1(\s|$))/i, '');

const megapixels = (member) => member.width * member.height / 1e6;
function megapixelText(member) {
  const mega = megapixels(member);
  return mega < 0.05 ? '' : `${mega.toFixed(mega < 10 ? 1 : 0)} MP`;
}
const scoreText = (score) => (Math.round(score * 1000) / 1000).toFixed(3);
