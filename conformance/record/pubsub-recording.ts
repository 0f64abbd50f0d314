import { exchangeCases, handshakeCases } from './pubsub-cases.ts';
import { type Exchange, ExchangeRunner, type PubsubNode, runHandshake } from './pubsub-exchange.ts';

/** What a node sent in each case, by the name of the case. */
export type PubsubRecording = ReadonlyMap<string, Exchange>;

const HANDSHAKE = 'handshake: ';

/**
 * Runs all exchanges and handshakes.
 * @param recorded - the recording that the result will be compared with.
 * @throws Error when the node accepts no WebSocket.
 */
export async function runExchanges(node: PubsubNode, recorded?: PubsubRecording): Promise<PubsubRecording> {
  const outcomes = new Map<string, Exchange>();
  const runner = new ExchangeRunner(node);
  for (const plan of exchangeCases())
    outcomes.set(plan.name, await runner.run(plan, recorded?.get(plan.name)));
  runner.close();
  for (const plan of handshakeCases) {
    outcomes.set(`${HANDSHAKE}${plan.name}`, [[await runHandshake(node, plan)]]);
  }
  return outcomes;
}

/** One case a line. A single response stands alone. */
export const writePubsubRecording = (recording: PubsubRecording): string =>
  [...recording]
    .map(([name, [first, ...rest]]) => {
      const isSingle = first?.length === 1 && rest.length === 0;
      return `${JSON.stringify([name, isSingle ? first[0] : [first, ...rest]])}\n`;
    })
    .join('');

export function readPubsubRecording(text: string): PubsubRecording {
  const lines = text.split('\n').filter((line) => line !== '');
  return new Map(
    lines.map((line) => {
      const [name, given] = JSON.parse(line) as [string, string | Exchange];
      return [name, typeof given === 'string' ? [[given]] : given];
    }),
  );
}
