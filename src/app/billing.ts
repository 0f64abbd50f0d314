import type { Logger } from '../base/log.ts';
import type { Configuration } from '../config/configuration.ts';
import { StatementSigner } from '../control/billing/statement.ts';
import { StatementCloser } from '../control/billing/statement-closer.ts';
import type { Access } from './access.ts';
import { logStateChange } from './log-state-change.ts';

export function openBilling({ billing }: Configuration, { store, peppers }: Access, log: Logger) {
  const closer = new StatementCloser({
    ...{ store, signer: new StatementSigner(peppers), options: billing },
    onState: logStateChange(log, 'Failed to close a billing month', 'Closing of billing months resumed'),
  });
  closer.start();
  return { stop: () => closer.stop() };
}
