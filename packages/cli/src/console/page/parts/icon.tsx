// The icons of the page: 20 x 20, drawn with lines in the colour of the text.
const paths = {
  brand: 'M2 7c4.5 4 11.5 4 16 0M2 14h16M6 9.5V14M14 9.5V14',
  flow: 'M3 10h3.5M13.5 10H17M6.5 6.5h7v7h-7zM3 5v10M17 5v10',
  objects: 'M3.5 4.5h13M3.5 10h13M3.5 15.5h13',
  sun:
    'M10 6.5a3.5 3.5 0 1 0 0 7a3.5 3.5 0 0 0 0-7z' +
    'M10 2v1.5M10 16.5V18M2 10h1.5M16.5 10H18M4.5 4.5l1 1M14.5 14.5l1 1M15.5 4.5l-1 1M5.5 14.5l-1 1',
  moon: 'M16.5 12A7 7 0 0 1 8 3.5a7 7 0 1 0 8.5 8.5z',
  auto: 'M10 3a7 7 0 1 0 0 14a7 7 0 0 0 0-14zM10 3v14M10 6l4-1M10 9.5l6.5-1.5M10 13l6.5-1.5',
  lock: 'M5.5 9h9v8h-9zM7 9V6.5a3 3 0 0 1 6 0V9',
  search: 'M9 3.5a5.5 5.5 0 1 0 0 11a5.5 5.5 0 0 0 0-11zM13 13l4 4',
  close: 'M5 5l10 10M15 5L5 15',
  copy: 'M7 7h9v9H7zM4 13V4h9',
  queues: 'M3.5 5.5h13v4h-13zM3.5 12.5h8v4h-8z',
  bolt: 'M11 2.5L4.5 11.5h4.5L8.5 17.5L15.5 8.5H11z',
  check: 'M4 10.5l4 4l8-9',
  retry: 'M15.5 6.5A6.5 6.5 0 1 0 16.5 11M16 3v4h-4',
  eye: 'M2.5 10c3-5.5 12-5.5 15 0c-3 5.5-12 5.5-15 0zM10 7.5a2.5 2.5 0 1 0 0 5a2.5 2.5 0 0 0 0-5z',
  pause: 'M7 5v10M13 5v10',
  play: 'M6.5 4.5l9 5.5l-9 5.5z',
  empty: 'M3 6.5l7-3.5l7 3.5v7L10 17l-7-3.5zM3 6.5L10 10l7-3.5M10 10v7',
} as const;

/** An icon. It is hidden from screen readers: a text or a label stands next to it. */
export function Icon({ name }: { readonly name: keyof typeof paths }) {
  return (
    <svg class="icon" viewBox="0 0 20 20" width="20" height="20" aria-hidden="true" focusable="false">
      <path
        d={paths[name]}
        fill="none"
        stroke="currentColor"
        stroke-width="1.6"
        stroke-linecap="round"
        stroke-linejoin="round"
      />
    </svg>
  );
}
