import type { Logger } from '../base/log.ts';
import type { Configuration } from '../config/configuration.ts';
import { StatementSigner } from '../control/billing/statement.ts';
import { StatementCloser } from '../control/billing/statement-closer.ts';
import { StripeApi } from '../control/billing/stripe-api.ts';
import { StripeComparison } from '../control/billing/stripe-comparison.ts';
import { StripePusher } from '../control/billing/stripe-pusher.ts';
import type { Access } from './access.ts';
import { logStateChange } from './log-state-change.ts';
import { stopEach } from './process/stop-each.ts';

function openStripe({ stripe }: Configuration, { store }: Access, log: Logger) {
  if (stripe.secretKey === null) return null;
  const api = new StripeApi(stripe.secretKey, stripe.meter, stripe);
  const pusher = new StripePusher({
    ...{ store, api, options: stripe },
    onState: logStateChange(log, 'Failed to queue usage for Stripe', 'Queueing usage for Stripe recovered'),
  });
  const comparison = new StripeComparison({
    ...{ store, api, options: stripe },
    onState: logStateChange(
      log,
      'Failed to compare usage with Stripe',
      'Comparing usage with Stripe recovered',
    ),
  });
  const tasks = [pusher, comparison];
  for (const task of tasks) task.start();
  return { api, stop: () => stopEach([() => api.close(), ...tasks.map((task) => () => task.stop())]) };
}

export function openBilling(configuration: Configuration, access: Access, log: Logger) {
  const { store, peppers } = access;
  const closer = new StatementCloser({
    ...{ store, signer: new StatementSigner(peppers), options: configuration.billing },
    onState: logStateChange(log, 'Failed to close a billing month', 'Closing billing months recovered'),
  });
  closer.start();
  const stripe = openStripe(configuration, access, log);
  return { stripe: stripe?.api, stop: () => stopEach([() => closer.stop(), async () => stripe?.stop()]) };
}
