import type { ExchangeCase, HandshakeCase, Step } from './pubsub-cases.ts';
import { type Frame, opcodes, RawSocket, type Received, textFrame, upgradeRequest } from './pubsub-socket.ts';

/** A PubSub server of a recording or comparison. Headers may contain secrets and are never printed. */
export type PubsubNode = Readonly<{ url: URL; headers: Readonly<Record<string, string>> }>;

/** What the server sent in response to each step, without notifications; subscription ids are numbered. */
export type Exchange = readonly (readonly string[])[];

/** Time for a response that is due, in a comparison. */
const RESPONSE_TIMEOUT_MS = 3_000;
const END = 'end';

/** Numbers subscription ids in the order in which they first occur. */
class IdNumbers {
  readonly ids: string[] = [];

  number(id: string): string {
    if (!this.ids.includes(id)) this.ids.push(id);
    return `#${this.ids.indexOf(id) + 1}`;
  }

  /** @param text - a response. */
  normalize(text: string): string {
    return text.replace(/"result":(\d+)/g, (_, id: string) => `"result":"${this.number(id)}"`);
  }

  /** @param text - a step of a case. */
  fill(text: string): string {
    return text.replace(/\$(\d)/g, (_, at: string) => this.ids[Number(at) - 1] ?? 'null');
  }
}

const describeClose = (payload: Buffer): string =>
  payload.length < 2 ? 'close' : `close ${payload.readUInt16BE(0)} ${payload.toString('utf8', 2)}`.trimEnd();

function describe(received: Received): string {
  if (received.kind === 'text') return received.text;
  if (received.kind === 'end') return END;
  const { opcode, payload } = received;
  if (opcode === opcodes.close) return describeClose(payload);
  return `${opcode === opcodes.pong ? 'pong' : `frame ${opcode}`} ${payload.toString()}`.trimEnd();
}

/** Notifications, and pings, which a gateway sends. */
const isUnrequested = (received: Received): boolean =>
  received.kind === 'text'
    ? received.text.startsWith('{"jsonrpc":"2.0","method":')
    : received.kind === 'frame' && received.opcode === opcodes.ping;
const isEnding = (received: Received): boolean =>
  received.kind === 'end' || (received.kind === 'frame' && received.opcode === opcodes.close);

let syncs = 0;

/**
 * Sends a frame and collects what arrives until the pong of a ping that follows.
 * @param due - number of responses to wait for before the ping, because a gateway sends pongs first.
 */
async function exchange(socket: RawSocket, frame: Frame, due: number): Promise<Received[]> {
  const sync = `sync ${++syncs}`;
  const isSync = (received: Received): boolean =>
    received.kind === 'frame' && received.opcode === opcodes.pong && String(received.payload) === sync;
  const responses: Received[] = [];
  let isPinged = false;
  let expected = due;
  socket.send(frame);
  for (;;) {
    if (!isPinged && responses.length >= expected) {
      socket.send({ opcode: opcodes.ping, payload: Buffer.from(sync) });
      isPinged = true;
    }
    const received = await socket.next(RESPONSE_TIMEOUT_MS);
    if (received !== null && isSync(received)) return responses;
    if (received !== null && !isUnrequested(received)) responses.push(received);
    if (received === null ? isPinged : isEnding(received)) return responses;
    if (received === null) expected = 0;
  }
}

const frameOf = (step: Exclude<Step, { other: string }>, ids: IdNumbers): Frame =>
  typeof step === 'string' ? textFrame(ids.fill(step)) : step;

/** Ends the subscriptions that a step opened, so that they do not affect the next case. */
async function unsubscribeAll(
  socket: RawSocket,
  message: string,
  responses: readonly string[],
): Promise<void> {
  const method = /"method":"(\w+)Subscribe"/.exec(message)?.[1];
  for (const response of responses) {
    const id = /"result":(\d+)/.exec(response)?.[1];
    if (id === undefined || method === undefined) continue;
    const text = `{"jsonrpc":"2.0","id":0,"method":"${method}Unsubscribe","params":[${id}]}`;
    await exchange(socket, textFrame(text), 1);
  }
}

/** Runs exchanges on a server, one after the other. */
export class ExchangeRunner {
  readonly #node: PubsubNode;
  #shared: RawSocket | null = null;

  constructor(node: PubsubNode) {
    this.#node = node;
  }

  /** @param recorded - the recorded exchange, for the number of responses to wait for. */
  async run({ steps, own }: ExchangeCase, recorded?: Exchange): Promise<Exchange> {
    const ids = new IdNumbers();
    const main = own ? await this.#open() : await this.#openShared();
    let other: RawSocket | null = null;
    const outcome: string[][] = [];
    for (const [at, step] of steps.entries()) {
      const isOther = typeof step === 'object' && 'other' in step;
      if (isOther) other ??= await this.#open();
      const socket = isOther ? (other as RawSocket) : main;
      const frame = isOther ? textFrame(ids.fill(step.other)) : frameOf(step, ids);
      const received = await exchange(socket, frame, recorded?.[at]?.length ?? 0);
      const texts = received.map(describe);
      outcome.push(texts.map((text) => ids.normalize(text)));
      if (received.some(isEnding)) break;
      if (!own) await unsubscribeAll(socket, String(frame.payload), texts);
    }
    if (own) main.destroy();
    other?.destroy();
    if (outcome.flat().includes(END)) this.#shared = null;
    return outcome;
  }

  close(): void {
    this.#shared?.destroy();
  }

  async #openShared(): Promise<RawSocket> {
    this.#shared ??= await this.#open();
    return this.#shared;
  }

  #open(): Promise<RawSocket> {
    return RawSocket.open(this.#node.url, this.#node.headers);
  }
}

/** Headers of an upgrade response that a client can see. */
const SHOWN_HEADERS = /^(upgrade|connection|sec-websocket-[a-z]+|content-type|allow)$/;

/** The status line and selected headers of the response; `end` if the server only disconnected. */
export async function runHandshake(node: PubsubNode, plan: HandshakeCase): Promise<string> {
  const present = Object.entries(plan.headers).filter(([, value]) => value !== null) as [string, string][];
  const [line, ...lines] = upgradeRequest(node.url, { ...Object.fromEntries(present), ...node.headers });
  const removed = Object.keys(plan.headers).filter((name) => plan.headers[name] === null);
  const sent = lines.filter((text) => !removed.includes(text.slice(0, text.indexOf(':'))));
  const { head, socket } = await RawSocket.handshake(node.url, [
    plan.requestLine ?? (line as string),
    ...sent,
  ]);
  socket.destroy();
  if (head === '') return END;
  const [status, ...shown] = head.split('\r\n');
  const headers = shown
    .map((text) => text.replace(/^[^:]+|(?<=^connection: ).*/gi, (part) => part.toLowerCase()))
    .filter((text) => SHOWN_HEADERS.test(text.slice(0, text.indexOf(':'))));
  return [status, ...headers.sort()].join('; ');
}
