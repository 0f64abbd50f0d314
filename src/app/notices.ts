import { join } from 'node:path';
import type { Logger } from '../base/log.ts';
import type { Configuration } from '../config/configuration.ts';
import { AlertWatch } from '../control/alerts/alert-watch.ts';
import { OutageAlert } from '../control/alerts/outage-alert.ts';
import type { GatewayProblem } from '../control/health/problem.ts';
import { type Mailer, type MailOptions, SmtpMailer } from '../control/notifications/email.ts';
import type { NoticeLimits } from '../control/notifications/notice.ts';
import { Notifier } from '../control/notifications/notifier.ts';
import { WebhookSeal } from '../control/notifications/webhooks.ts';
import { CheckedPost } from '../upstream/off-chain/checked-post.ts';
import type { Access } from './access.ts';
import { logStateChange } from './log-state-change.ts';
import { stopEach } from './process/stop-each.ts';

const isConfigured = (mail: Configuration['mail'] | MailOptions): mail is MailOptions =>
  mail.smtpUrl !== null && mail.from !== null;

/** Mailer for the configured mail server, which a reload can change but not remove; null if none is configured. */
export const openMailer = ({ mail }: Configuration): Mailer | null =>
  isConfigured(mail) ? new SmtpMailer(mail) : null;

type HealthReports = Readonly<{
  gatewayId: string;
  /** Problems of this gateway. */
  problems: () => readonly GatewayProblem[];
}>;

/** @throws the driver's error */
export async function openNotices(
  { notices, accounts, health, dataDir }: Configuration,
  { store, peppers, limits: { quota: ledger } }: Access,
  { gatewayId, problems }: HealthReports,
  mailer: Mailer | null,
  log: Logger,
) {
  const { allowNetworks, ports, connectTimeoutMs, resolveTimeoutMs, urlMaxLength } = notices;
  // Passes the live section of the configuration, so that a reload takes effect.
  const limits: NoticeLimits = notices;
  const webhooks = new CheckedPost(
    { allowedNetworks: allowNetworks, ports },
    { connectTimeoutMs, resolveTimeoutMs, urlMaxLength },
  );
  const channels = { webhooks, mailer, seal: new WebhookSeal(peppers), publicUrl: accounts.publicUrl };
  const notifier = new Notifier({
    store,
    ledger,
    channels,
    limits,
    onState: logStateChange(log, 'Customer notices paused: database unavailable', 'Customer notices resumed'),
  });
  await notifier.start();
  const outage = new OutageAlert({ gatewayId, channels, limits, file: join(dataDir, 'outage-alert.json') });
  await outage.start();
  const alerts = new AlertWatch({
    ...{ store, outage, options: health, ownProblems: problems },
    deliver: () => void notifier.deliver(),
    onState: logStateChange(log, 'Alerts paused: database unavailable', 'Alerts resumed'),
  });
  alerts.start();
  return {
    services: { notices: { webhooks, limits } },
    stop: () => stopEach([() => alerts.stop(), () => notifier.stop(), () => webhooks.close()]),
  };
}
