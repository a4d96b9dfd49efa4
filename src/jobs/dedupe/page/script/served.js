// A page that `millrace dedupe review` serves: what it fetches, and how it says that somebody still looks at it.

const served = header.served || null;
const servedKey = served ? sessionStorage.getItem('millrace-key') : '';

async function askServer(path, body) {
  const options = {headers: {'X-Millrace-Key': servedKey}};
  if (body !== undefined) Object.assign(options, {method: 'POST', body});
  const answer = await fetch(path, options);
  if (answer.ok) return answer;
  const {error} = await answer.json();
  throw new Error([error.subject, error.what, error.remedy].filter(Boolean).join(': '));
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
    image.addEventListener('load', () => URL.revokeObjectURL(image.src), {once: true});
  } catch (error) {
    image.replaceWith(h('span', {class: 'none', title: visible(error.message)}, 'cannot be shown'));
  } finally {
    fetching -= 1;
    fetchNext();
  }
}

// The answer is held back: it is asked for again at once, in a tab that nobody looks at too.
async function stayAlive() {
  for (;;) {
    try {
      await askServer('/alive', '');
    } catch (error) {
      $('storage-warning').textContent =
          'The review has ended: run millrace dedupe review again. Your marks are kept.';
      $('storage-warning').hidden = false;
      return;
    }
  }
}
if (served) stayAlive();
