// A page that `millrace dedupe review` serves: fetches data, and reports that the page is still open.

const served = header.served || null;
const servedKey = served ? sessionStorage.getItem('millrace-key') : '';

async function askServer(path, body) {
  const options = {headers: {'X-Millrace-Key': servedKey}};
  // A short body is sent even if the page is left in the meantime.
  if (body !== undefined) Object.assign(options, {method: 'POST', body, keepalive: body.length < 30000 && path === '/marks'});
  const answer = await fetch(path, options);
  if (answer.ok) return answer;
  const {error} = await answer.json();
  const problem = new Error([error.subject === 'the request' ? '' : error.subject, error.what, error.remedy].filter(Boolean).join(': '));
  problem.refused = answer.status < 500;
  throw problem;
}

function warn(text) {
  $('storage-warning').textContent = text;
  $('storage-warning').hidden = text === '';
}

const fileId = (group, m) => json(group.thumbs)[m];

// Fetches thumbnails that come into view: a few at a time, the latest first, since earlier ones may be out of view.
const waiting = [];
let fetching = 0;
function fetchThumb(id, image) {
  waiting.push({id, image});
  fetchNext();
}
async function fetchNext() {
  if (fetching >= 4 || waiting.length === 0) return;
  const {id, image} = waiting.pop();
  if (!image.isConnected && waiting.length) {
    fetchNext();
    return;
  }
  fetching += 1;
  try {
    image.src = URL.createObjectURL(await (await askServer(`/thumb/${id}`)).blob());
    for (const name of ['load', 'error']) image.addEventListener(name, () => URL.revokeObjectURL(image.src), {once: true});
  } catch (error) {
    image.replaceWith(h('span', {class: 'none', title: visible(error.message)}, 'cannot be shown'));
  } finally {
    fetching -= 1;
    fetchNext();
  }
}

// The review delays each answer, and the page then asks again at once, also in a background tab. A connection, such as a
// forwarded port, may drop and come back before the review ends by itself.
let over = false;
async function stayAlive() {
  const TIMEOUT_MS = 50000;
  let heard = Date.now();
  let silent = false;
  while (!over) {
    try {
      await askServer('/alive', '');
      heard = Date.now();
      if (silent && !over) save();
      silent = false;
    } catch (error) {
      if (over) return;
      if (error.refused || Date.now() - heard > TIMEOUT_MS) {
        warn('The review has ended: run millrace dedupe review again. Saved marks will be restored.');
        return;
      }
      silent = true;
      warn('The review does not answer or has ended: trying again for one minute.');
      await new Promise((resolve) => setTimeout(resolve, 1000));
    }
  }
}
if (served) stayAlive();
