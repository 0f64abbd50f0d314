import type { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import * as ws from 'ws';
import { Notification } from './notification.ts';
import { textFrame } from './text-frame.ts';

/** Exported, but not in the types. */
const { Receiver } = ws as unknown as { Receiver: new (options: { isServer: boolean }) => Writable };

function textOf(frame: Buffer): Promise<string> {
  return new Promise((resolve, reject) => {
    const receiver = new Receiver({ isServer: false });
    receiver.on('message', (data: Buffer, isBinary: boolean) => {
      if (isBinary) reject(new Error('a binary frame'));
      else resolve(data.toString());
    });
    receiver.on('error', reject);
    receiver.write(frame);
  });
}

it.each([0, 1, 125, 126, 127, 65_535, 65_536, 70_000])(
  'a text frame of %i bytes is read by a client',
  async (length) => {
    const text = 'é'.repeat(length >> 1) + 'x'.repeat(length & 1);
    expect(await textOf(textFrame([Buffer.from(text)]))).toBe(text);
    expect(await textOf(textFrame([Buffer.from('<'), Buffer.from(text)]))).toBe(`<${text}`);
  },
);

describe('a notification', () => {
  const result = '{"context":{"slot":1},"value":"é"}';
  const notification = new Notification('accountNotification', Buffer.from(result));

  const text = (id: number): string =>
    `{"jsonrpc":"2.0","method":"accountNotification","params":{"result":${result},"subscription":${id}}}`;

  it.each([0, 10, Number.MAX_SAFE_INTEGER])('has the subscription id %i', async (id) => {
    expect(await textOf(notification.frame(id).bytes)).toBe(text(id));
  });

  it('is written at an offset', async () => {
    const frame = notification.frame(123);
    const target = Buffer.alloc(frame.length + 20, '-');
    frame.write(target, 10);
    expect(await textOf(target.subarray(10, -10))).toBe(text(123));
    const around = [target.subarray(0, 10), target.subarray(-10)].map(String);
    expect(around).toEqual(['----------', '----------']);
  });
});
