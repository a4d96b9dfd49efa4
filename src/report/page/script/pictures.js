// Photographs with masks drawn over them. Each has a slider that sets how much of the masks is shown, and can be
// enlarged and moved.

const MOST_ZOOM = 12;

function addView(figure) {
  const stage = figure.querySelector('.stage');
  const pan = stage.querySelector('.pan');
  const drawn = stage.querySelector('.drawn');
  const state = {zoom: 1, x: 0, y: 0};

  const place = () => {
    const {width, height} = stage.getBoundingClientRect();
    state.x = Math.min(0, Math.max(state.x, width * (1 - state.zoom)));
    state.y = Math.min(0, Math.max(state.y, height * (1 - state.zoom)));
    pan.style.transform = `translate(${state.x}px, ${state.y}px) scale(${state.zoom})`;
    stage.classList.toggle('near', state.zoom > 1);
  };
  // The point under (x, y) stays in place.
  const zoomAt = (x, y, factor) => {
    const zoom = Math.min(MOST_ZOOM, Math.max(1, state.zoom * factor));
    state.x = x - (x - state.x) * (zoom / state.zoom);
    state.y = y - (y - state.y) * (zoom / state.zoom);
    state.zoom = zoom;
    place();
  };
  const zoomMiddle = (factor) => {
    const {width, height} = stage.getBoundingClientRect();
    zoomAt(width / 2, height / 2, factor);
  };
  const whole = () => {
    Object.assign(state, {zoom: 1, x: 0, y: 0});
    place();
  };

  // A tall and narrow picture takes no more of the page than others.
  const photo = pan.querySelector('.photo');
  const sides = Number(photo.getAttribute('height')) / Number(photo.getAttribute('width'));
  if (sides > 1.5) stage.style.maxWidth = `${Math.max(100 * 1.5 / sides, 8)}%`;

  const row = document.createElement('div');
  row.className = 'slider';
  const slider = document.createElement('input');
  Object.assign(slider, {type: 'range', min: '0', max: '100', value: '100'});
  slider.setAttribute('aria-label', 'How much of the mask is shown, from the left');
  slider.addEventListener('input', () => {
    drawn.style.clipPath = `inset(0 ${100 - Number(slider.value)}% 0 0)`;
  });
  const button = (text, label, press) => {
    const one = document.createElement('button');
    one.type = 'button';
    one.textContent = text;
    one.setAttribute('aria-label', label);
    one.title = label;
    one.addEventListener('click', press);
    return one;
  };
  const large = button('\u2922', 'Larger', () => {
    const is = figure.classList.toggle('large');
    large.setAttribute('aria-pressed', String(is));
    whole();
  });
  row.append(slider, button('\u2212', 'Zoom out', () => zoomMiddle(1 / 1.5)), button('+', 'Zoom in', () => zoomMiddle(1.5)),
             large);
  stage.after(row);

  stage.addEventListener('wheel', (event) => {
    // Scrolling past a picture does not enlarge it.
    if (!event.ctrlKey && state.zoom === 1) return;
    event.preventDefault();
    const {left, top} = stage.getBoundingClientRect();
    zoomAt(event.clientX - left, event.clientY - top, Math.exp(-event.deltaY / 400));
  }, {passive: false});
  stage.addEventListener('dblclick', (event) => {
    const {left, top} = stage.getBoundingClientRect();
    if (state.zoom >= 8) whole();
    else zoomAt(event.clientX - left, event.clientY - top, 2);
  });
  stage.addEventListener('pointerdown', (event) => {
    if (state.zoom === 1 || event.button !== 0) return;
    event.preventDefault();
    stage.focus();
    stage.setPointerCapture(event.pointerId);
    stage.classList.add('moving');
    const from = {x: event.clientX - state.x, y: event.clientY - state.y};
    const move = (now) => {
      Object.assign(state, {x: now.clientX - from.x, y: now.clientY - from.y});
      place();
    };
    const end = () => {
      stage.classList.remove('moving');
      stage.removeEventListener('pointermove', move);
    };
    stage.addEventListener('pointermove', move);
    for (const kind of ['pointerup', 'pointercancel']) stage.addEventListener(kind, end, {once: true});
  });
  stage.addEventListener('keydown', (event) => {
    const step = 40;
    const moves = {ArrowLeft: [step, 0], ArrowRight: [-step, 0], ArrowUp: [0, step], ArrowDown: [0, -step]};
    if (event.key === '+' || event.key === '=') zoomMiddle(1.5);
    else if (event.key === '-') zoomMiddle(1 / 1.5);
    else if (event.key === '0') whole();
    else if (moves[event.key] && state.zoom > 1) {
      state.x += moves[event.key][0];
      state.y += moves[event.key][1];
      place();
    } else return;
    event.preventDefault();
  });
  addEventListener('resize', place);
}

function addTools(tools) {
  const list = tools.nextElementSibling;
  const figures = [...list.children];
  tools.hidden = false;
  for (const check of tools.querySelectorAll('input[data-layer]')) {
    const show = () => {
      for (const layer of list.querySelectorAll(`.drawn [data-layer="${check.dataset.layer}"]`)) layer.hidden = !check.checked;
    };
    check.addEventListener('change', show);
    show();  // the browser may restore an unchecked box
  }
  const order = tools.querySelector('.picture-order');
  const sort = () => {
    const rank = (figure) => Number(figure.dataset.ranks.split(' ')[Number(order.value)]);
    list.append(...figures.sort((a, b) => rank(a) - rank(b)));
  };
  order.addEventListener('change', sort);
  const search = tools.querySelector('input[type="search"]');
  const count = tools.querySelector('.picture-count');
  const find = () => {
    const wanted = search.value.trim().toLowerCase();
    let shown = 0;
    for (const figure of figures) {
      figure.hidden = !figure.querySelector('figcaption').textContent.toLowerCase().includes(wanted);
      shown += figure.hidden ? 0 : 1;
    }
    const all = figures.length === 1 ? '1 picture' : `${figures.length} pictures`;
    count.textContent = shown === figures.length ? all : `${shown} of ${all}`;
  };
  search.addEventListener('input', find);
  sort();
  find();
}
