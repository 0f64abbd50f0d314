import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import type { Reply } from './load/clients.ts';
import { findRegression, NewestSlots } from './load/newest-slots.ts';
import { answerFault, classifyResponse, outcomeFault } from './load/submission-outcome.ts';
import { ANSWER_WINDOW_MS, FaultHistory, GRACE_MS } from './nodes/fault-history.ts';
import { TcpProxy } from './tcp-proxy.ts';

function scene(): FaultHistory {
  const ailments = new FaultHistory(['one', 'two']);
  const killed = ailments.start(0, 'killed', 1_000);
  ailments.start(1, 'frozen', 5_000);
  ailments.end(killed, 3_000);
  return ailments;
}

describe('a read could have been answered', () => {
  it('while one node was well from its beginning to its end', () => {
    const ailments = scene();
    expect(ailments.wasAnswerable(1_500, 4_900)).toBe(true);
    expect(ailments.wasAnswerable(3_000 + GRACE_MS, 9_000)).toBe(true);
  });

  it('not when the only one that was well fell ill before its end, or had only just come back', () => {
    const ailments = scene();
    expect(ailments.wasAnswerable(2_000, 5_100)).toBe(false);
    expect(ailments.wasAnswerable(3_000 + GRACE_MS - 1, 5_001)).toBe(false);
    ailments.start(0, 'slow', 9_000);
    expect(ailments.wasAnswerable(8_000, 9_001)).toBe(false);
  });

  it('when a node was well as long as anybody needs, however long the read took', () => {
    const ailments = new FaultHistory(['one']);
    ailments.start(0, 'frozen', ANSWER_WINDOW_MS + 100);
    expect(ailments.wasAnswerable(100, 30_000)).toBe(true);
    expect(ailments.wasAnswerable(101, 30_000)).toBe(false);
  });

  it('also when others forget what is long over', () => {
    const ailments = scene();
    ailments.forget(4_000);
    expect(ailments.wasAnswerable(6_000, 7_000)).toBe(true);
    expect(ailments.kinds(6_000, 7_000)).toEqual(new Set(['frozen']));
  });
});

describe('a transaction could have been sent again', () => {
  it('when a node was well for a while, between two illnesses too', () => {
    const ailments = new FaultHistory(['one']);
    ailments.end(ailments.start(0, 'killed', 0), 1_000);
    const slow = ailments.start(0, 'slow', 6_000);
    expect(ailments.hadWellNodeFor(4_000, 0, 20_000)).toBe(true);
    expect(ailments.hadWellNodeFor(5_000, 0, 20_000)).toBe(false);
    ailments.end(slow, 9_000);
    expect(ailments.hadWellNodeFor(5_000, 0, 20_000)).toBe(true);
  });
});

describe('a session', () => {
  it('goes back when it is told of an older slot at the same or a less settled commitment', () => {
    const session = new NewestSlots();
    session.observe('confirmed', 100);
    session.observe('confirmed', 90);
    const before = session.now();
    expect(findRegression(before, 'confirmed', 99)).toBe('99 at confirmed after 100 at confirmed');
    expect(findRegression(before, 'processed', 99)).toBe('99 at processed after 100 at confirmed');
    expect(findRegression(before, 'processed', 100)).toBeNull();
    expect(findRegression(before, 'finalized', 70)).toBeNull();
  });

  it('may be told less by an answer that was asked for before', () => {
    const session = new NewestSlots();
    const before = session.now();
    session.observe('processed', 100);
    expect(findRegression(before, 'processed', 99)).toBeNull();
    expect(findRegression(session.now(), 'processed', 99)).not.toBeNull();
  });
});

const SIGNATURE = 'sig';
const errorReply = (code: number, message: string, data: Readonly<Record<string, unknown>> = {}): Reply => ({
  ...{ kind: 'error', code, data },
  text: JSON.stringify({ code, message, data }),
});
const taken = classifyResponse({ kind: 'result', result: SIGNATURE }, SIGNATURE);
const lost = classifyResponse(errorReply(-32050, 'UPSTREAM_UNAVAILABLE'), SIGNATURE);
const unknown = classifyResponse(
  errorReply(-32050, 'UPSTREAM_UNAVAILABLE', { outcome: 'unknown', signature: SIGNATURE }),
  SIGNATURE,
);
const poor = classifyResponse(errorReply(-32002, 'insufficient lamports'), SIGNATURE);
const stale = classifyResponse(errorReply(-32002, 'Blockhash not found'), SIGNATURE);

describe('a transaction', () => {
  it('is lost when it was accepted and never landed, though it could have been handed over', () => {
    expect(outcomeFault(taken, 'expired', false, true)).toContain('lost');
    expect(outcomeFault(taken, 'expired', false, false)).toBeNull();
    expect(outcomeFault(taken, 'landed', false, true)).toBeNull();
  });

  it('is answered wrongly when the answer says what is not so', () => {
    expect(outcomeFault(lost, 'landed', false, false)).not.toBeNull();
    expect(outcomeFault(unknown, 'landed', false, false)).toBeNull();
    expect(outcomeFault(poor, 'expired', false, false)).not.toBeNull();
    expect(outcomeFault(poor, 'expired', true, false)).toBeNull();
    expect(outcomeFault(stale, 'expired', false, false)).toBeNull();
    expect(classifyResponse({ kind: 'result', result: 'of another' }, SIGNATURE).kind).toBe('silent');
  });

  it('has to be answered definitely while a node is well', () => {
    expect([taken, stale].map((said) => answerFault(said, false))).toEqual([null, null]);
    for (const said of [lost, unknown, poor]) expect(answerFault(said, false)).not.toBeNull();
    expect(answerFault(poor, true)).toBeNull();
  });
});

describe('a proxy', () => {
  it('passes everything on in order, whatever it does meanwhile, and breaks in the middle of an answer', async () => {
    const server = createServer((socket: Socket) => socket.pipe(socket)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const proxy = await TcpProxy.start((server.address() as AddressInfo).port);
    const client = connect(proxy.port, '127.0.0.1').setEncoding('latin1');
    client.on('error', () => {});
    let reported = '';
    client.on('data', (text: string) => {
      reported += text;
    });
    const hears = async (wanted: string): Promise<void> => {
      while (reported.length < wanted.length) await once(client, 'data');
      expect(reported).toBe(wanted);
    };
    proxy.delay(60);
    client.write('first ');
    await once(client, 'connect');
    proxy.delay(1);
    client.write('second ');
    await hears('first second ');
    proxy.narrow(200);
    client.write('third');
    await hears('first second third');
    proxy.calm();
    proxy.breakOff(() => true);
    const closed = new Promise((resolve) => client.once('close', resolve));
    client.write('0123456789');
    await closed;
    expect(reported.slice('first second third'.length)).toBe('01234');
    await proxy.close();
    server.close();
  });
});
