// Tables are sorted by a press on a column's head: numbers by value, words by their letters; what is absent stays last.

const SUPERSCRIPTS = '⁰¹²³⁴⁵⁶⁷⁸⁹';

// The first number of a cell as the program writes them: "−1.23×10⁻⁵", "1,234", "≤ 0.0001", "[0.1, 0.2]". NaN: none.
function numberOf(text) {
  const found = text.match(/(−?)(\d[\d,]*(?:\.\d+)?|∞|10(?=[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]))(?:×10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+))?/);
  if (!found) return NaN;
  const plain = found[2].replace(/,(?=\d{3}(?!\d))/g, '').replace(/,.*/, '');
  const power = found[3] ? found[3].replace('⁻', '-').replace(/[^-]/g, (c) => SUPERSCRIPTS.indexOf(c)) : '0';
  const value = plain === '∞' ? Infinity : Number(`${plain}e${power}`);
  return found[1] ? -value : value;
}

function sortTable(table, column, head) {
  const descending = head.getAttribute('aria-sort') === 'ascending';
  for (const other of table.tHead.rows[0].cells) other.removeAttribute('aria-sort');
  head.setAttribute('aria-sort', descending ? 'descending' : 'ascending');
  const number = head.classList.contains('n');
  const rows = [...table.tBodies[0].rows].map((row) => {
    const text = row.cells[column]?.textContent ?? '';
    return {row, key: number ? numberOf(text) : text};
  });
  const sign = descending ? -1 : 1;
  const absent = (key) => key === '' || key === '–' || Number.isNaN(key);
  rows.sort((a, b) => {
    if (absent(a.key) || absent(b.key)) return absent(a.key) - absent(b.key);
    if (number) return a.key === b.key ? 0 : sign * (a.key < b.key ? -1 : 1);
    return sign * a.key.localeCompare(b.key, 'en', {numeric: true});
  });
  table.tBodies[0].append(...rows.map((one) => one.row));
}

function makeSortable(table) {
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    const button = document.createElement('button');
    button.type = 'button';
    button.append(...head.childNodes);
    button.addEventListener('click', () => sortTable(table, column, head));
    head.append(button);
  });
}
