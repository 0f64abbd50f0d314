import { expect, it } from 'vitest';
import { createLogger } from '../../base/log.ts';
import { DropReport, noStats } from './deshred-stats.ts';

it('reports drops since the last report, as a warning above a threshold, and nothing without drops', () => {
  const shreds = noStats();
  const counts = { malformed: 0, unknown: 0, unresolved: 0 };
  const lines: { level: number; dropped: unknown }[] = [];
  const log = createLogger('info', (line) => void lines.push(JSON.parse(line)));
  let strangers = 0;
  const report = new DropReport({ counts: () => ({ shreds, unknownSenders: strangers, ...counts }), log });
  report.report();
  shreds.drops.duplicate = 70_000;
  report.report();
  expect(lines).toEqual([]);
  shreds.drops.version = 3;
  strangers = 2;
  report.report();
  shreds.drops.invalidSignature = 5_000;
  report.report();
  report.report();
  expect(lines).toMatchObject([
    { level: 30, dropped: { version: 3, unknownSenders: 2 } },
    { level: 40, dropped: { invalidSignature: 5_000 } },
  ]);
});
