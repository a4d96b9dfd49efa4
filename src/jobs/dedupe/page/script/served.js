// A page that `millrace dedupe review` serves: what it fetches, and how it says that somebody still looks at it.

const served = header.served || null;
const servedKey = served ? sessionStorage.getItem('millrace-key') : '';

async function askServer(path, body) {
  const options = {headers: {'X-Millrace-Key': servedKey}};
  // What is short is sent though the page is left meanwhile.
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

// A small picture, when it comes into view: a few at a time, the latest first, since the earlier ones may be far by now.
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

// The answer is held back: it is asked for again at once, in a tab that nobody looks at too. A connection may drop, as
// of a forwarded port, and come back before the review ends by itself.
let over = false;
async function stayAlive() {
  const PATIENCE = 50000;
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
      if (error.refused || Date.now() - heard > PATIENCE) {
        warn('The review has ended: run millrace dedupe review again. Marks that were kept come back.');
        return;
      }
      silent = true;
      warn('The review does not answer, or has ended: it is asked again for a minute.');
      await new Promise((resolve) => setTimeout(resolve, 1000));
    }
  }
}
if (served) stayAlive();
