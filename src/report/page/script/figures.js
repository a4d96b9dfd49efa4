// A figure is saved in its printed colours, whatever colour scheme the screen shows.

function svgText(svg) {
  const copy = svg.cloneNode(true);
  // Some print programs do not support currentColor: each attribute gets the actual colour.
  for (const attribute of ['fill', 'stroke']) {
    for (const element of copy.querySelectorAll(`[${attribute}="currentColor"]`)) {
      element.setAttribute(attribute, element.closest('[color]').getAttribute('color'));
    }
  }
  for (const element of copy.querySelectorAll('[color], [class]')) {
    element.removeAttribute('color');
    element.removeAttribute('class');
  }
  return '<?xml version="1.0" encoding="UTF-8"?>\n' + new XMLSerializer().serializeToString(copy) + '\n';
}

function saveSvg(figure) {
  const svg = figure.querySelector('svg');
  const name = svg.querySelector('title').textContent.toLowerCase().replace(/[^a-z0-9]+/g, '-').replace(/^-|-$/g, '');
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([svgText(svg)], {type: 'image/svg+xml'}));
  link.download = `${name.slice(0, 80) || 'figure'}.svg`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

function addSaveButton(figure) {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'save';
  button.textContent = 'Save SVG';
  button.addEventListener('click', () => saveSvg(figure));
  figure.querySelector('.below').append(button);
}
