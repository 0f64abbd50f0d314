import { expect, it } from 'vitest';
import { createLogger } from '../../../../src/base/log.ts';
import { openShredSender } from './shred-sender.ts';

it('logs dropped shreds when the queue is full', async () => {
  const lines: { dropped?: number }[] = [];
  const log = createLogger('warn', (line) => void lines.push(JSON.parse(line)));
  const sender = await openShredSender({ targets: [], log, deferredMaxPackets: 2 });
  sender.send([new Uint8Array(1), new Uint8Array(1)], 'soon');
  expect(lines).toEqual([]);
  sender.send([new Uint8Array(1), new Uint8Array(1), new Uint8Array(1)], 'soon');
  expect(lines).toMatchObject([{ dropped: 3 }]);
  await sender.close();
});
