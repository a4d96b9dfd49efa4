// The page is complete without this script, which adds the controls.

for (const figure of document.querySelectorAll('.figure')) addSaveButton(figure);
for (const figure of document.querySelectorAll('.picture')) addView(figure);
for (const tools of document.querySelectorAll('.picture-tools')) addTools(tools);

// A table in a closed element becomes sortable when it is opened: there may be many.
for (const table of document.querySelectorAll('table')) {
  const details = table.closest('.numbers');
  if (!details) makeSortable(table);
  else details.addEventListener('toggle', () => makeSortable(table), {once: true});
}

const contents = document.querySelector('.contents');
if (contents && document.querySelector('.numbers')) {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'numbers-toggle';
  button.textContent = 'Show all numbers';
  button.setAttribute('aria-pressed', 'false');
  button.addEventListener('click', () => {
    const open = button.getAttribute('aria-pressed') !== 'true';
    button.setAttribute('aria-pressed', String(open));
    button.textContent = open ? 'Hide all numbers' : 'Show all numbers';
    for (const details of document.querySelectorAll('.numbers')) details.open = open;
  });
  contents.append(button);
}
