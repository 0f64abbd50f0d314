import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { Notification } from './notification.ts';
import { FlushScheduler, Outbox, type SendBacklog } from './outbox.ts';
import { textFrame } from './text-frame.ts';

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

/** A client of a socket, and our end of it. */
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

/** Reads until so many bytes came. */
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

/** Counts the writes that reach a socket. */
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

const wide = { queueMaxBytes: 1 << 20 };
const frames = (...texts: string[]): Buffer[] => texts.map((text) => textFrame([Buffer.from(text)]));

describe('an outbox', () => {
  it('sends all that came in a turn in one write, in order', async () => {
    const { ours, client } = await pair();
    const outbox = new Outbox(ours, wide, never);
    const seen = countWrites(ours);
    const sent = frames('one', 'two', 'three');
    for (const frame of sent) outbox.push(frame);
    expect(seen.writes).toBe(0);
    const whole = Buffer.concat(sent);
    expect(await read(client, whole.length)).toEqual(whole);
    expect(seen.writes).toBe(1);
    expect(outbox.queuedBytes).toBe(0);
  });

  it('joins the same frames once for all sockets', async () => {
    const [one, other] = [await pair(), await pair()];
    const seen = [countWrites(one.ours), countWrites(other.ours)];
    const outboxes = [new Outbox(one.ours, wide, never), new Outbox(other.ours, wide, never)];
    const shared = frames('one', 'two');
    for (const frame of shared) for (const outbox of outboxes) outbox.push(frame);
    const whole = Buffer.concat(shared);
    const [first, second] = await Promise.all([
      read(one.client, whole.length),
      read(other.client, whole.length),
    ]);
    expect([first, second]).toEqual([whole, whole]);
    expect(seen[0]?.last).toBe(seen[1]?.last);
  });

  it('joins a long run of frames once for all sockets', async () => {
    const pairs = [await pair(), await pair(), await pair()];
    const seen = pairs.map(({ ours }) => countWrites(ours));
    const outboxes = pairs.map(({ ours }) => new Outbox(ours, wide, never));
    const shared = Array.from({ length: 8 }, (_, i) => Buffer.alloc(8000, i));
    for (const frame of shared) for (const outbox of outboxes) outbox.push(frame);
    const all = await Promise.all(pairs.map(({ client }) => read(client, 64_000)));
    for (const one of all) expect(one.equals(Buffer.concat(shared))).toBe(true);
    expect(seen.map(({ writes }) => writes)).toEqual([1, 1, 1]);
    expect(new Set(seen.map(({ last }) => last)).size).toBe(1);
  });

  it('leaves as they are the bytes that a slow socket has not taken, whatever others send', async () => {
    const [slow, quick] = [await pair(), await pair()];
    slow.client.pause();
    quick.client.resume();
    const outboxes = [slow, quick].map(({ ours }) => new Outbox(ours, { queueMaxBytes: 1 << 26 }, never));
    const sent: Buffer[] = [];
    const say = async (outbox: Outbox | undefined, frame: Buffer): Promise<void> => {
      outbox?.push(frame);
      if (outbox === outboxes[0]) sent.push(frame);
      await new Promise(setImmediate);
    };
    for (let turn = 0; !slow.ours.writableNeedDrain; turn++) {
      await say(outboxes[0], Buffer.alloc(7_001, turn));
      await say(outboxes[1], Buffer.alloc(9_001, 255));
    }
    const whole = Buffer.concat(sent);
    const heard = read(slow.client, whole.length);
    slow.client.resume();
    expect((await heard).equals(whole)).toBe(true);
  });

  it('keeps no more of a notification than its own bytes while the socket is full', async () => {
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

  it('does not mix up sockets that get different frames', async () => {
    const [one, other] = [await pair(), await pair()];
    const outboxes = [new Outbox(one.ours, wide, never), new Outbox(other.ours, wide, never)];
    const [a, b, c] = frames('aaa', 'bbb', 'ccc') as [Buffer, Buffer, Buffer];
    for (const turn of [
      [a, b],
      [b, a],
      [a, b, c],
    ]) {
      const reading = [read(one.client, turn.length * a.length), read(other.client, 2 * a.length)];
      for (const frame of turn) outboxes[0]?.push(frame);
      outboxes[1]?.push(a);
      outboxes[1]?.push(b);
      expect(await Promise.all(reading)).toEqual([Buffer.concat(turn), Buffer.concat([a, b])]);
      for (const { client } of [one, other]) client.removeAllListeners('data');
    }
  });

  it('leaves to a stream that is no socket the bytes that it still passes on', async () => {
    const streams = [new PassThrough(), new PassThrough()];
    const [one, other] = streams.map((stream) => new Outbox(stream, wide, never));
    const [a, b] = frames('for the one', 'to others!!') as [Buffer, Buffer];
    one?.push(a);
    one?.flush();
    other?.push(b);
    other?.flush();
    expect(streams.map((stream) => stream.read())).toEqual([a, b]);
  });

  it('keeps the order of a burst that does not wait for the end of the turn', async () => {
    const { ours, client } = await pair();
    const outbox = new Outbox(ours, wide, never);
    const sent = Array.from({ length: 300 }, (_, i) => Buffer.alloc(1000, i));
    for (const frame of sent) outbox.push(frame);
    expect(await read(client, 300_000)).toEqual(Buffer.concat(sent));
  });

  it('holds frames while the socket is full, and says once how far behind the client is', async () => {
    const { ours, client } = await pair();
    client.pause();
    const told: SendBacklog[] = [];
    const outbox = new Outbox(ours, { queueMaxBytes: 100_000 }, (behind) => told.push(behind));
    const frame = Buffer.alloc(10_000, 7);
    let pushed = 0;
    while (told.length === 0) {
      outbox.push(frame);
      pushed++;
      await new Promise(setImmediate);
    }
    const [behind] = told as [SendBacklog];
    expect(behind.bytes).toBeGreaterThan(100_000);
    expect(behind.bytes).toBeLessThan(100_000 + 3 * frame.length + ours.writableHighWaterMark);
    expect(behind.bytes).toBe(behind.messages * frame.length);
    expect(pushed).toBeGreaterThanOrEqual(behind.messages);
    outbox.push(frame);
    await new Promise(setImmediate);
    expect(told).toHaveLength(1);
    expect(outbox.queuedBytes).toBe(ours.writableLength);
  });

  it('goes on when a full socket drained', async () => {
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

  it('takes a frame of any size when nothing waits', async () => {
    const { ours, client } = await pair();
    const outbox = new Outbox(ours, { queueMaxBytes: 10 }, never);
    const large = Buffer.alloc(3_000_000, 1);
    outbox.push(large);
    expect((await read(client, large.length)).equals(large)).toBe(true);
  });

  it('does not take a client to lag because it asked for something large', async () => {
    const { ours, client } = await pair();
    client.pause();
    const outbox = new Outbox(ours, { queueMaxBytes: 1_000_000 }, never);
    const asked = Buffer.alloc(5_000_000, 1);
    outbox.pushResponse(asked);
    for (let count = 0; count < 90; count++) outbox.push(Buffer.alloc(10_000, 2));
    expect(outbox.isFull).toBe(true);
    const whole = await read(client.resume(), 5_900_000);
    expect(whole.equals(Buffer.concat([asked, Buffer.alloc(900_000, 2)]))).toBe(true);
    expect(outbox.isFull).toBe(false);
  });

  it('takes it to lag all the same when it takes nothing of it', async () => {
    const { ours, client } = await pair();
    client.pause();
    const told: SendBacklog[] = [];
    const outbox = new Outbox(ours, { queueMaxBytes: 1_000_000 }, (behind) => told.push(behind));
    while (told.length === 0) {
      outbox.pushResponse(Buffer.alloc(1_000_000));
      await new Promise(setImmediate);
    }
    expect(told[0]?.bytes).toBeLessThan(12_000_000);
  });

  it('hands everything over ahead of what ends the connection, and sends nothing behind it', async () => {
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

  it('lets go of everything when it is dropped', async () => {
    const { ours, client } = await pair();
    const outbox = new Outbox(ours, wide, never);
    outbox.push(Buffer.from('dropped'));
    outbox.drop();
    outbox.push(Buffer.from('refused'));
    ours.end('alive');
    expect((await read(client, 5)).toString()).toBe('alive');
  });

  it('is silent on a socket that is gone', async () => {
    const { ours, client } = await pair();
    const outbox = new Outbox(ours, wide, never);
    client.destroy();
    ours.destroy();
    outbox.push(Buffer.from('nobody hears'));
    await new Promise(setImmediate);
    expect(outbox.queuedBytes).toBe(0);
  });
});

it('counts what each frame takes, however little is in it', async () => {
  const { ours, client } = await pair();
  client.pause();
  const told: SendBacklog[] = [];
  const outbox = new Outbox(ours, { queueMaxBytes: 8 << 20 }, (behind) => told.push(behind));
  let pushed = 0;
  while (!ours.writableNeedDrain) {
    outbox.push(Buffer.alloc(60_000));
    pushed++;
    await new Promise(setImmediate);
  }
  const tiny = Buffer.alloc(2);
  while (told.length === 0 && pushed < 1_000_000) {
    outbox.push(tiny);
    pushed++;
  }
  expect(told).toHaveLength(1);
  expect(told[0]?.messages).toBeLessThan((8 << 20) / 200 + 2);
});

describe('pongs in an outbox', () => {
  it('are only the latest of those that wait, behind all that was sent before its ping', async () => {
    const { ours, client } = await pair();
    const outbox = new Outbox(ours, wide, never);
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

  it('do not pile up before a client that does not read', async () => {
    const { ours, client } = await pair();
    client.pause();
    const outbox = new Outbox(ours, wide, never);
    while (!ours.writableNeedDrain) {
      outbox.push(Buffer.alloc(60_000));
      await new Promise(setImmediate);
    }
    const before = outbox.memoryBytes;
    for (let ping = 0; ping < 100_000; ping++) outbox.pushPong(Buffer.alloc(2));
    expect(outbox.memoryBytes - before).toBeLessThan(1_000);
  });
});

describe('notifications in an outbox', () => {
  it('leave in one write with what else there is, in order', async () => {
    const { ours, client } = await pair();
    const outbox = new Outbox(ours, wide, never);
    const seen = countWrites(ours);
    const told = [1, 2].map((slot) => new Notification('slotNotification', Buffer.from(`${slot}`)).frame(7));
    const [answer] = frames('answer') as [Buffer];
    const [first, second] = told as [(typeof told)[0], (typeof told)[0]];
    for (const frame of [first, answer, second]) outbox.push(frame);
    const whole = Buffer.concat([first.bytes, answer, second.bytes]);
    expect(await read(client, whole.length)).toEqual(whole);
    expect(seen.writes).toBe(1);
  });

  it('that are large are written once for all sockets', async () => {
    const pairs = [await pair(), await pair()];
    const seen = pairs.map(({ ours }) => countWrites(ours));
    const frame = new Notification('blockNotification', Buffer.alloc(300_000, '1')).frame(1);
    const outboxes = pairs.map(({ ours }) => new Outbox(ours, wide, never));
    for (const outbox of outboxes) outbox.push(frame);
    const all = await Promise.all(pairs.map(({ client }) => read(client, frame.length)));
    for (const one of all) expect(one.equals(frame.bytes)).toBe(true);
    expect(seen[0]?.last).toBe(seen[1]?.last);
  });
});

describe('an outbox beside ws on the same socket', () => {
  it('sends whole frames between pongs', async () => {
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false });
    await once(server, 'listening');
    closing.push(() => server.close());
    const accepted = once(server, 'connection');
    const client = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
    closing.push(() => client.terminate());
    const [, request] = (await accepted) as [WebSocket, { socket: Socket }];
    const outbox = new Outbox(request.socket, wide, never);
    await once(client, 'open');
    const heard: string[] = [];
    const pongs: string[] = [];
    client.on('message', (data) => heard.push(String(data)));
    client.on('pong', (data) => pongs.push(String(data)));
    const texts = Array.from({ length: 200 }, (_, i) => String(i).repeat(1 + (i % 400)));
    for (const [i, text] of texts.entries()) {
      if (i % 10 === 0) client.ping(`ping ${i}`);
      for (const frame of frames(text)) outbox.push(frame);
      if (i % 7 === 0) await new Promise(setImmediate);
    }
    while (heard.length < texts.length || pongs.length < 20) {
      await new Promise(setImmediate);
    }
    expect(heard).toEqual(texts);
    expect(pongs).toHaveLength(20);
  });
});

function counting() {
  const counted = { flushes: 0, flush: () => void counted.flushes++ };
  return counted;
}

describe('a flush', () => {
  it('comes at the end of the turn in which it was asked for, once for all that asked', async () => {
    const flushes = new FlushScheduler();
    const [one, other] = [counting(), counting()];
    flushes.schedule(one);
    flushes.schedule(other);
    expect([one.flushes, other.flushes]).toEqual([0, 0]);
    await turn();
    expect([one.flushes, other.flushes]).toEqual([1, 1]);
  });

  it('waits, where it may, when it is asked for soon after the last', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    onTestFinished(() => void vi.useRealTimers());
    // Long after the last flush, which there never was.
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
});
