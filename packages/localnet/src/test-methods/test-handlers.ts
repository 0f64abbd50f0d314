import type { OpenLocalNode } from '../genesis/open.ts';
import type { RpcHandler } from '../rpc-handler.ts';
import { pauseClock, resumeClock, step } from './clock.ts';
import { LedgerControls } from './ledger-controls.ts';
import { profileTransaction } from './profileTransaction.ts';
import { resetAccount } from './resetAccount.ts';
import { setAccount } from './setAccount.ts';
import { setTokenAccount } from './setTokenAccount.ts';
import { restore, snapshot } from './snapshots.ts';
import type { TestMethod } from './test-method.ts';
import { timeTravel } from './timeTravel.ts';

/** By wire name. Those of Surfpool have its parameters and results. Source: Surfpool, `surfnet_cheatcodes.rs`. */
export const testMethods: Readonly<Record<string, TestMethod>> = {
  surfnet_setAccount: setAccount,
  surfnet_setTokenAccount: setTokenAccount,
  surfnet_resetAccount: resetAccount,
  surfnet_timeTravel: timeTravel,
  surfnet_pauseClock: pauseClock,
  surfnet_resumeClock: resumeClock,
  surfnet_profileTransaction: profileTransaction,
  solway_step: step,
  solway_snapshot: snapshot,
  solway_restore: restore,
};

export function testHandlers(node: OpenLocalNode): Record<string, RpcHandler> {
  const controls = new LedgerControls(node);
  return Object.fromEntries(
    Object.entries(testMethods).map(([name, method]) => [name, (_node, params) => method(controls, params)]),
  );
}
