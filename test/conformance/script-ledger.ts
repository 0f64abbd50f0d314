import { setImmediate } from 'node:timers/promises';
import { RpcNode } from '../../conformance/node.ts';
import type { Facts } from '../../conformance/record/cases/recorded-case.ts';
import { factsOf } from '../../conformance/record/facts.ts';
import { finalizedBlockhash, settle } from '../../conformance/record/record-cases.ts';
import { runScript, type ScriptRun } from '../../conformance/record/run-script.ts';
import { type OpenLocalNode, openLocalNode } from '../../packages/localnet/src/genesis/open.ts';
import { startLocalnetServer } from '../../packages/localnet/src/http/server.ts';
import { createLogger } from '../../src/base/log.ts';
import { temporaryFolder } from '../service/program.ts';

export type ScriptLedger = Readonly<{
  url: string;
  run: ScriptRun;
  /** Names transactions that were not sent yet, with a current blockhash. */
  facts: () => Promise<Facts>;
  close: () => Promise<void>;
}>;

/**
 * An embedded ledger on which the script of the recordings ran. It produces slots during the script only.
 * @param beforeScript - runs on the started ledger.
 */
export async function startScriptLedger(
  beforeScript: (node: OpenLocalNode, url: string) => Promise<void> = async () => {},
): Promise<ScriptLedger> {
  const node = await openLocalNode({ ledgerDir: temporaryFolder('script'), manual: true });
  const server = await startLocalnetServer(node, { port: 0, log: createLogger('silent', () => {}) });
  const url = `http://127.0.0.1:${server.port}`;
  const rpc = new RpcNode({ name: 'ledger', url, headers: {} });
  // The ledger has a slot when somebody waits for one: the script passes as many slots as on a validator.
  const produceSlot = async (): Promise<void> => {
    node.freeze();
    await setImmediate();
  };
  await beforeScript(node, url);
  const run = await runScript(rpc, () => {}, produceSlot);
  await settle(rpc, run, produceSlot);
  const facts = async (): Promise<Facts> => factsOf(run, await finalizedBlockhash(rpc));
  const close = async (): Promise<void> => {
    await server.close();
    await node.stop();
  };
  return { url, run, facts, close };
}
