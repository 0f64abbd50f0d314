import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import type { Reply } from './load/clients.ts';
import { findRegression, NewestSlots } from './load/sessions.ts';
import { answerFault, classifyResponse, outcomeFault } from './load/submission-outcome.ts';
import { ANSWER_WINDOW_MS, FaultHistory, GRACE_MS } from './nodes/fault-history.ts';
import { TcpProxy } from './tcp-proxy.ts';

function fixture(): FaultHistory {
  const faultHistory = new FaultHistory(['one', 'two']);
  const killed = faultHistory.start(0, 'killed', 1_000);
  faultHistory.start(1, 'frozen', 5_000);
  faultHistory.end(killed, 3_000);
  return faultHistory;
}

describe('wasAnswerable', () => {
  it('is true if one node is healthy from the start to the end of a read', () => {
    const faultHistory = fixture();
    expect(faultHistory.wasAnswerable(1_500, 4_900)).toBe(true);
    expect(faultHistory.wasAnswerable(3_000 + GRACE_MS, 9_000)).toBe(true);
  });

  it('is false if the only healthy node fails before the end, or has just recovered', () => {
    const faultHistory = fixture();
    expect(faultHistory.wasAnswerable(2_000, 5_100)).toBe(false);
    expect(faultHistory.wasAnswerable(3_000 + GRACE_MS - 1, 5_001)).toBe(false);
    faultHistory.start(0, 'slow', 9_000);
    expect(faultHistory.wasAnswerable(8_000, 9_001)).toBe(false);
  });

  it('is true if a node is healthy for the answer window, even if the read takes longer', () => {
    const faultHistory = new FaultHistory(['one']);
    faultHistory.start(0, 'frozen', ANSWER_WINDOW_MS + 100);
    expect(faultHistory.wasAnswerable(100, 30_000)).toBe(true);
    expect(faultHistory.wasAnswerable(101, 30_000)).toBe(false);
  });
});

describe('hadHealthyNodeFor', () => {
  it('is true if a node is healthy for that time, even between two faults', () => {
    const faultHistory = new FaultHistory(['one']);
    faultHistory.end(faultHistory.start(0, 'killed', 0), 1_000);
    const slow = faultHistory.start(0, 'slow', 6_000);
    expect(faultHistory.hadHealthyNodeFor(4_000, 0, 20_000)).toBe(true);
    expect(faultHistory.hadHealthyNodeFor(5_000, 0, 20_000)).toBe(false);
    faultHistory.end(slow, 9_000);
    expect(faultHistory.hadHealthyNodeFor(5_000, 0, 20_000)).toBe(true);
  });
});

describe('a session', () => {
  it('regresses when a read returns an older slot at the same or a lower commitment', () => {
    const session = new NewestSlots();
    const first = session.now();
    session.observe('confirmed', 100);
    session.observe('confirmed', 90);
    const before = session.now();
    expect(findRegression(before, 'confirmed', 99)).toBe('99 at confirmed after 100 at confirmed');
    expect(findRegression(before, 'processed', 99)).toBe('99 at processed after 100 at confirmed');
    expect(findRegression(before, 'processed', 100)).toBeNull();
    expect(findRegression(before, 'finalized', 70)).toBeNull();
    expect(findRegression(first, 'confirmed', 99)).toBeNull();
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
  it('is lost if it was accepted but did not land, although it could be rebroadcast', () => {
    expect(outcomeFault(taken, 'expired', false, true)).toContain('lost');
    expect(outcomeFault(taken, 'expired', false, false)).toBeNull();
    expect(outcomeFault(taken, 'landed', false, true)).toBeNull();
  });

  it('has a wrong response if that contradicts its outcome', () => {
    expect(outcomeFault(lost, 'landed', false, false)).not.toBeNull();
    expect(outcomeFault(unknown, 'landed', false, false)).toBeNull();
    expect(outcomeFault(poor, 'expired', false, false)).not.toBeNull();
    expect(outcomeFault(poor, 'expired', true, false)).toBeNull();
    expect(outcomeFault(stale, 'expired', false, false)).toBeNull();
    expect(classifyResponse({ kind: 'result', result: 'another' }, SIGNATURE).kind).toBe('silent');
  });

  it('needs a definite response while a node is healthy', () => {
    expect([taken, stale].map((response) => answerFault(response, false))).toEqual([null, null]);
    for (const response of [lost, unknown, poor]) expect(answerFault(response, false)).not.toBeNull();
    expect(answerFault(poor, true)).toBeNull();
  });
});

describe('a proxy', () => {
  it('forwards everything in order, despite injected faults, and can reset within a response', async () => {
    const server = createServer((socket: Socket) => socket.pipe(socket)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const proxy = await TcpProxy.start((server.address() as AddressInfo).port);
    const client = connect(proxy.port, '127.0.0.1').setEncoding('latin1');
    client.on('error', () => {});
    let received = '';
    client.on('data', (text: string) => {
      received += text;
    });
    const receives = async (wanted: string): Promise<void> => {
      while (received.length < wanted.length) await once(client, 'data');
      expect(received).toBe(wanted);
    };
    proxy.delay(60);
    client.write('first ');
    await once(client, 'connect');
    proxy.delay(1);
    client.write('second ');
    await receives('first second ');
    proxy.narrow(200);
    client.write('third');
    await receives('first second third');
    proxy.calm();
    proxy.breakOff(() => true);
    const closed = new Promise((resolve) => client.once('close', resolve));
    client.write('0123456789');
    await closed;
    expect(received.slice('first second third'.length)).toBe('01234');
    await proxy.close();
    server.close();
  });
});
