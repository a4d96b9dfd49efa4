// Short messages after an action of a person.

let toastTimer = 0;
function say(text, refusal = false) {
  const toast = $('toast');
  const over = document.querySelector('dialog[open]') || document.body;  // a dialog covers what is not in it
  if (toast.parentElement !== over) over.append(toast);
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
