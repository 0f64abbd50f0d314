import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { Notification } from './notification.ts';
import { FlushScheduler, Outbox, type SendBacklog } from './outbox.ts';
import { textFrame } from './text-frame.ts';

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

async function pair(): Promise<{ ours: Socket; client: Socket }> {
  const server: Server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const [ours] = (await once(server, 'connection')) as [Socket];
  ours.on('error', () => {});
  client.on('error', () => {});
  closing.push(() => {
    ours.destroy();
    client.destroy();
    server.close();
  });
  return { ours, client };
}

function read(client: Socket, bytes: number): Promise<Buffer> {
  return new Promise((resolve) => {
    const pieces: Buffer[] = [];
    let length = 0;
    client.on('data', (piece: Buffer) => {
      pieces.push(piece);
      length += piece.length;
      if (length >= bytes) resolve(Buffer.concat(pieces));
    });
  });
}

function countWrites(socket: Socket): { writes: number; last: unknown } {
  const seen: { writes: number; last: unknown } = { writes: 0, last: null };
  const write = socket.write.bind(socket);
  socket.write = ((chunk: Buffer) => {
    seen.writes++;
    seen.last = chunk;
    return write(chunk);
  }) as typeof socket.write;
  return seen;
}

const never = (): void => {
  throw new Error('the client does not lag');
};

const limits = { queueMaxBytes: 1 << 20 };
const frames = (...texts: string[]): Buffer[] => texts.map((text) => textFrame([Buffer.from(text)]));

describe('an outbox', () => {
  it('joins the frames of a turn into one write, in order', async () => {
    const { ours, client } = await pair();
    const outbox = new Outbox(ours, limits, never);
    const seen = countWrites(ours);
    const sent = frames('one', 'two', 'three');
    for (const frame of sent) outbox.push(frame);
    expect(seen.writes).toBe(0);
    const whole = Buffer.concat(sent);
    expect(await read(client, whole.length)).toEqual(whole);
    expect(seen.writes).toBe(1);
    expect(outbox.queuedBytes).toBe(0);
  });

  it('does not overwrite bytes that a slow socket has not sent', async () => {
    const [slow, quick] = [await pair(), await pair()];
    slow.client.pause();
    quick.client.resume();
    const outboxes = [slow, quick].map(({ ours }) => new Outbox(ours, { queueMaxBytes: 1 << 26 }, never));
    const sent: Buffer[] = [];
    const send = async (outbox: Outbox | undefined, frame: Buffer): Promise<void> => {
      outbox?.push(frame);
      if (outbox === outboxes[0]) sent.push(frame);
      await new Promise(setImmediate);
    };
    for (let turn = 0; !slow.ours.writableNeedDrain; turn++) {
      await send(outboxes[0], Buffer.alloc(7_001, turn));
      await send(outboxes[1], Buffer.alloc(9_001, 255));
    }
    const whole = Buffer.concat(sent);
    const received = read(slow.client, whole.length);
    slow.client.resume();
    expect((await received).equals(whole)).toBe(true);
  });

  it('copies a notification that is queued while the socket is full', async () => {
    const { ours, client } = await pair();
    client.pause();
    const outbox = new Outbox(ours, { queueMaxBytes: 1 << 26 }, never);
    let sentBytes = 0;
    while (!ours.writableNeedDrain) {
      outbox.push(Buffer.alloc(50_000));
      sentBytes += 50_000;
      await new Promise(setImmediate);
    }
    const result = Buffer.from('{"value":1}');
    const frame = new Notification('accountNotification', result).frame(1);
    outbox.push(frame);
    result.fill('x');
    const whole = await read(client.resume(), sentBytes + frame.length);
    expect(whole.subarray(sentBytes).toString()).toContain('{"value":1}');
  });

  it('queues frames while the socket is full, and reports a lagging client once', async () => {
    const { ours, client } = await pair();
    client.pause();
    const reports: SendBacklog[] = [];
    const outbox = new Outbox(ours, { queueMaxBytes: 100_000 }, (backlog) => reports.push(backlog));
    const frame = Buffer.alloc(10_000, 7);
    let pushed = 0;
    while (reports.length === 0) {
      outbox.push(frame);
      pushed++;
      await new Promise(setImmediate);
    }
    const [backlog] = reports as [SendBacklog];
    expect(backlog.bytes).toBeGreaterThan(100_000);
    expect(backlog.bytes).toBeLessThan(100_000 + 3 * frame.length + ours.writableHighWaterMark);
    expect(backlog.bytes).toBe(backlog.messages * frame.length);
    expect(pushed).toBeGreaterThanOrEqual(backlog.messages);
    outbox.push(frame);
    await new Promise(setImmediate);
    expect(reports).toHaveLength(1);
    expect(outbox.queuedBytes).toBe(ours.writableLength);
  });

  it('continues when a full socket has drained', async () => {
    const { ours, client } = await pair();
    client.pause();
    const outbox = new Outbox(ours, { queueMaxBytes: 1 << 26 }, never);
    const sent = Array.from({ length: 1000 }, (_, i) => Buffer.alloc(20_000, i));
    for (const frame of sent) outbox.push(frame);
    expect(ours.writableNeedDrain).toBe(true);
    expect(outbox.queuedBytes).toBeGreaterThan(ours.writableLength);
    const whole = await read(client.resume(), 20_000_000);
    expect(whole.equals(Buffer.concat(sent))).toBe(true);
    expect(outbox.queuedBytes).toBe(0);
  });

  it('does not treat a client with a large response as lagging', async () => {
    const { ours, client } = await pair();
    client.pause();
    const outbox = new Outbox(ours, { queueMaxBytes: 1_000_000 }, never);
    const response = Buffer.alloc(5_000_000, 1);
    outbox.pushResponse(response);
    for (let count = 0; count < 90; count++) outbox.push(Buffer.alloc(10_000, 2));
    expect(outbox.isFull).toBe(true);
    const whole = await read(client.resume(), 5_900_000);
    expect(whole.equals(Buffer.concat([response, Buffer.alloc(900_000, 2)]))).toBe(true);
    expect(outbox.isFull).toBe(false);
  });

  it('writes the queue before a close frame, and nothing afterwards', async () => {
    const { ours, client } = await pair();
    client.pause();
    const outbox = new Outbox(ours, { queueMaxBytes: 1 << 26 }, never);
    const sent = Array.from({ length: 500 }, () => Buffer.alloc(20_000, 1));
    for (const frame of sent) outbox.push(frame);
    outbox.finish();
    ours.write('the end');
    outbox.push(Buffer.from('too late'));
    const ended = once(client, 'end');
    const whole = read(client, 10_000_007);
    client.resume();
    expect((await whole).subarray(-8).toString()).toBe('\u0001the end');
    ours.end();
    await ended;
  });
});

it('counts the memory of tiny frames, and lags above the limit', async () => {
  const { ours } = await pair();
  const reports: SendBacklog[] = [];
  const outbox = new Outbox(ours, { queueMaxBytes: 2 * (1 + 200) }, (backlog) => reports.push(backlog));
  for (let i = 0; i < 3; i++) outbox.push(Buffer.from('x'));
  expect(reports).toEqual([]);
  outbox.push(Buffer.from('x'));
  expect(reports).toEqual([{ bytes: 4, messages: 4 }]);
});

it('pongs in an outbox are replaced by the latest, after frames queued before its ping', async () => {
  const { ours, client } = await pair();
  const outbox = new Outbox(ours, limits, never);
  const [first, between, second, last] = frames('first', 'between', 'second', 'last') as [
    Buffer,
    Buffer,
    Buffer,
    Buffer,
  ];
  for (const pong of [second, first]) outbox.pushPong(pong);
  outbox.push(between);
  for (const pong of [first, second, last]) outbox.pushPong(pong);
  const whole = Buffer.concat([between, last]);
  expect(await read(client, whole.length)).toEqual(whole);
  outbox.pushPong(first);
  outbox.pushPong(second);
  expect(await read(client, second.length)).toEqual(second);
  expect(outbox.memoryBytes).toBe(0);
});

function counting() {
  const counted = { flushes: 0, flush: () => void counted.flushes++ };
  return counted;
}

it('a flush waits for the minimum interval', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
  vi.advanceTimersByTime(1_000);
  const flushes = new FlushScheduler(50);
  const one = counting();
  flushes.schedule(one);
  await turn();
  expect(one.flushes).toBe(1);
  flushes.schedule(one);
  await turn();
  vi.advanceTimersByTime(49);
  expect(one.flushes).toBe(1);
  vi.advanceTimersByTime(1);
  expect(one.flushes).toBe(2);
});
