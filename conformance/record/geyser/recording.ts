import type { GeyserRow } from './record-geyser.ts';
import type { RecordedUpdate } from './updates.ts';

/**
 * A recording as JSON lines: first each content once, then each stream with references `filters #content`.
 * Streams share most of their contents.
 */
export function writeGeyserRecording(rows: readonly GeyserRow[]): string {
  const numbers = new Map<string, number>();
  for (const { updates } of rows)
    for (const { content } of updates) if (!numbers.has(content)) numbers.set(content, numbers.size);
  const contents = [...numbers.keys()];
  const streams = rows.map(({ name, status, updates }) =>
    JSON.stringify({
      name,
      status,
      updates: updates.map(({ filters, content }) => `${filters} #${numbers.get(content)}`),
    }),
  );
  return [...contents, ...streams].map((line) => `${line}\n`).join('');
}

const REFERENCE = /^(.*) #(\d+)$/s;

export function readGeyserRecording(text: string): GeyserRow[] {
  const lines = text.split('\n').filter((line) => line !== '');
  const isStream = (line: string): boolean => line.startsWith('{"name":');
  const contents = lines.filter((line) => !isStream(line));
  return lines.filter(isStream).map((line) => {
    const { name, status, updates } = JSON.parse(line) as {
      name: string;
      status: string | null;
      updates: string[];
    };
    return { name, status, updates: updates.map((reference) => updateOf(reference, contents)) };
  });
}

function updateOf(reference: string, contents: readonly string[]): RecordedUpdate {
  const [, filters = '', number = ''] = REFERENCE.exec(reference) ?? [];
  return { filters, content: contents[Number(number)] ?? '' };
}

const textOf = ({ filters, content }: RecordedUpdate): string => `${filters} ${content}`;

/** How a stream differs from the recorded one; an empty list if it does not. */
export function differencesOf(recorded: GeyserRow, received: GeyserRow): string[] {
  const found: string[] = [];
  if (recorded.status !== received.status)
    found.push(`status ${received.status} instead of ${recorded.status}`);
  const left = received.updates.map(textOf);
  for (const update of recorded.updates.map(textOf)) {
    const at = left.indexOf(update);
    if (at < 0) found.push(`lacks ${update}`);
    else left.splice(at, 1);
  }
  return [...found, ...left.map((update) => `has ${update}`)];
}
