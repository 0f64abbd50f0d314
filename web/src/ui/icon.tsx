const drawings = {
  home: 'M2.5 7.5 8 3l5.5 4.5V13h-11z M6.5 13V9.5h3V13',
  fleet: 'M2.5 2.5h4.5v4.5H2.5z M9 2.5h4.5v4.5H9z M2.5 9h4.5v4.5H2.5z M9 9h4.5v4.5H9z',
  key: 'M9.5 6.5a3 3 0 1 0-2.6 3L8 10.5h1.5V12H11v1.5h2.5V11L9.4 7.2 M5.7 5.8v.01',
  usage: 'M2.5 13.5v-4 M6.2 13.5v-7 M9.8 13.5V9 M13.5 13.5v-11',
  gauge: 'M2.5 11.5a5.5 5.5 0 1 1 11 0 M8 11.5l2.5-4',
  warning: 'M8 2.5 14 13H2z M8 6.5v3 M8 11.4v.01',
  logs: 'M2.5 4h11 M2.5 8h11 M2.5 12h7',
  streams: 'M2 5c3 0 3-2 6-2s3 2 6 2 M2 9c3 0 3-2 6-2s3 2 6 2 M2 13c3 0 3-2 6-2s3 2 6 2',
  transaction: 'M2.5 5.5h10 M9.5 2.5l3 3-3 3 M13.5 10.5h-10 M6.5 7.5l-3 3 3 3',
  nodes: 'M8 2.5v4 M3.5 13.5v-3h9v3 M8 6.5v4 M6.5 2.5h3',
  play: 'M4.5 3l8 5-8 5z',
  team: 'M6 7.5a2.2 2.2 0 1 0 0-4.4 2.2 2.2 0 0 0 0 4.4z M2 13c0-2.4 1.7-4 4-4s4 1.6 4 4 M10.5 3.4a2.1 2.1 0 0 1 0 4 M11.7 9.3c1.5.5 2.3 1.8 2.3 3.7',
  audit: 'M4 2.5h6l2.5 2.5v8.5H4z M6 7h4 M6 9.5h4 M6 12h2',
  receipt: 'M4 2.5h8v11l-2-1.2-2 1.2-2-1.2-2 1.2z M6.2 6h3.6 M6.2 8.7h3.6',
  settings: 'M2.5 4.5h6 M11.5 4.5h2 M10 3v3 M2.5 11.5h2 M7.5 11.5h6 M6 10v3',
  more: 'M3.5 8h.01 M8 8h.01 M12.5 8h.01',
  copy: 'M5.5 5.5h8v8h-8z M10.5 5.5v-3h-8v8h3',
  check: 'M3 8.5l3.2 3.2L13 5',
  close: 'M3.5 3.5l9 9 M12.5 3.5l-9 9',
  down: 'M4 6l4 4 4-4',
  up: 'M4 10l4-4 4 4',
  right: 'M6 3.5 10.5 8 6 12.5',
  plus: 'M8 3v10 M3 8h10',
  download: 'M8 2.5v7.5 M4.5 7 8 10.5 11.5 7 M2.5 13.5h11',
  search: 'M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9z M10.3 10.3l3.2 3.2',
  sun: 'M8 10.8a2.8 2.8 0 1 0 0-5.6 2.8 2.8 0 0 0 0 5.6z M8 1.5v1.3 M8 13.2v1.3 M1.5 8h1.3 M13.2 8h1.3 M3.4 3.4l.9.9 M11.7 11.7l.9.9 M3.4 12.6l.9-.9 M11.7 4.3l.9-.9',
  moon: 'M13.3 9.8A5.6 5.6 0 0 1 6.2 2.7a5.6 5.6 0 1 0 7.1 7.1z',
  system: 'M2 3.5h12v7.5H2z M5.5 13.5h5',
  clock: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12z M8 4.5V8l2.3 1.6',
  refresh: 'M13 8a5 5 0 1 1-1.5-3.6 M13 2.5v2.3h-2.3',
  menu: 'M2.5 4.5h11 M2.5 8h11 M2.5 11.5h11',
  filter: 'M2.5 4h11 M4.5 8h7 M6.5 12h3',
  pause: 'M5.5 3.5v9 M10.5 3.5v9',
} as const;

export type IconName = keyof typeof drawings;

export const Icon = ({ name, size = 16 }: { name: IconName; size?: number }) => (
  <svg className="icon" width={size} height={size} viewBox="0 0 16 16" aria-hidden="true" focusable="false">
    <path d={drawings[name]} />
  </svg>
);

export const Mark = ({ size = 22 }: { size?: number }) => (
  <svg className="mark" width={size} height={size} viewBox="0 0 32 32" aria-hidden="true" focusable="false">
    <path className="mark-a" d="M3 25c9 0 8-18 17-18h9" />
    <path className="mark-b" d="M3 16h26" />
    <path className="mark-c" d="M3 7c9 0 8 18 17 18h9" />
  </svg>
);
