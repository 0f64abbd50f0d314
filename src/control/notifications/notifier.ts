import type { QuotaLedger } from '../../gateway/limits/quota.ts';
import { findRow } from '../database/rows.ts';
import type { Store } from '../database/store.ts';
import type { NoticeDeliveryTable, NoticeTargetTable } from '../database/tables/notices.ts';
import { FailureState, type OnState } from '../failure-state.ts';
import { PeriodicTask } from '../periodic-task.ts';
import { claimDue, pruneNotices, recordAttempt } from './delivery-queue.ts';
import { MailError, type Mailer } from './email.ts';
import {
  type AlertNotice,
  type AlertTestNotice,
  type Notice,
  type NoticeLimits,
  renderNotice,
} from './notice.ts';
import { pagerDutyEvent, testResolveEvent } from './pagerduty.ts';
import { watchQuotas } from './quota-watch.ts';
import { slackMessage } from './slack.ts';
import { resealTargets } from './targets.ts';
import { type PostResult, signedHeaders, type WebhookSeal, type WebhookSender } from './webhooks.ts';

/** null: the channel is unavailable. */
export type NoticeChannels = Readonly<{
  webhooks: WebhookSender | null;
  mailer: Mailer | null;
  seal: WebhookSeal;
  /** Address of the dashboard, for links; null: unknown. */
  publicUrl: string | null;
}>;

/** `problem` is null on success. If `isFinal` is true, the delivery is not retried. */
type DeliveryResult = Readonly<{ problem: string | null; isFinal: boolean }>;

const delivered: DeliveryResult = { problem: null, isFinal: true };
const retryableFailure = (problem: string): DeliveryResult => ({ problem, isFinal: false });
const permanentFailure = (problem: string): DeliveryResult => ({ problem, isFinal: true });

/** `id` stays the same across attempts. */
type DeliveryAttempt = Readonly<{ id: string; nowMs: number; signal: AbortSignal }>;

const HTTP_GONE = 410;
const HTTP_BAD_REQUEST = 400;

function toDeliveryResult(posted: PostResult, kind: NoticeTargetTable['kind']): DeliveryResult {
  if (posted.kind === 'forbidden') return permanentFailure('The webhook host has no public address.');
  if (posted.kind === 'failed')
    return retryableFailure('The webhook host did not respond. Check the URL and firewall.');
  const { status } = posted;
  if (status >= 200 && status < 300) return delivered;
  if (status === HTTP_GONE)
    return permanentFailure('The webhook host returned 410 Gone. No more notifications will be sent.');
  if (kind === 'pagerduty' && status === HTTP_BAD_REQUEST)
    return permanentFailure('PagerDuty rejects the event. Check the integration key.');
  return retryableFailure(`The webhook host returned ${status}.`);
}

type Posted = Readonly<{ headers: Readonly<Record<string, string>>; body: string }>;

const jsonPost = (value: object): Posted => ({
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(value),
});

const isAlert = (notice: Notice): notice is AlertNotice | AlertTestNotice => notice.type.startsWith('alert.');

/** Requests to send for a notice, in order. */
function postsOf(
  { kind }: NoticeTargetTable,
  secret: string,
  notice: Notice,
  { id, nowMs }: DeliveryAttempt,
  publicUrl: string | null,
): Posted[] {
  if (kind === 'slack') return [jsonPost(slackMessage(renderNotice(notice, publicUrl)))];
  if (kind === 'pagerduty' && isAlert(notice)) {
    const event = jsonPost(pagerDutyEvent(notice, { routingKey: secret, publicUrl }));
    return notice.type === 'alert.test' ? [event, jsonPost(testResolveEvent(secret))] : [event];
  }
  const body = JSON.stringify(notice);
  return [{ headers: signedHeaders(secret, id, body, nowMs), body }];
}

async function callWebhook(
  { webhooks, seal, publicUrl }: NoticeChannels,
  target: NoticeTargetTable,
  notice: Notice,
  attempt: DeliveryAttempt,
): Promise<DeliveryResult> {
  if (webhooks === null) return retryableFailure('Webhooks are sent only by a running gateway.');
  const webhook = seal.open(target, target.customer_id, target.id);
  if (webhook === null)
    return permanentFailure('The webhook cannot be decrypted with the current pepper. Add it again.');
  const rejection = webhooks.rejectionReason(webhook.url);
  if (rejection !== null) return permanentFailure(`The URL ${rejection}.`);
  let result = delivered;
  for (const { headers, body } of postsOf(target, webhook.secret, notice, attempt, publicUrl)) {
    if (result !== delivered) break;
    result = toDeliveryResult(await webhooks.post(webhook.url, headers, body, attempt.signal), target.kind);
  }
  return result;
}

async function sendMail(
  { mailer, publicUrl }: NoticeChannels,
  target: NoticeTargetTable,
  notice: Notice,
): Promise<DeliveryResult> {
  if (mailer === null)
    return retryableFailure('No mail server is configured. Ask the operator to set mail.smtp_url.');
  try {
    await mailer.send({ to: target.shown, ...renderNotice(notice, publicUrl) });
    return delivered;
  } catch (error) {
    return retryableFailure(error instanceof MailError ? error.message : 'The mail could not be sent.');
  }
}

/** Makes one delivery attempt. Never rejects. */
export const deliverNotice = (
  channels: NoticeChannels,
  target: NoticeTargetTable,
  notice: Notice,
  attempt: DeliveryAttempt,
): Promise<DeliveryResult> =>
  target.kind === 'email'
    ? sendMail(channels, target, notice)
    : callWebhook(channels, target, notice, attempt);

type NotifierOptions = Readonly<{
  store: Store;
  ledger: QuotaLedger;
  channels: NoticeChannels;
  limits: NoticeLimits;
  now?: () => number;
  onState?: OnState;
}>;

/** The lease of a claimed delivery lasts this much longer than the attempt timeout. Then, any gateway may retry. */
const LEASE_MARGIN_MS = 20_000;
const PRUNE_INTERVAL_MS = 3_600_000;
const DAY_MS = 86_400_000;
const RETRY_FACTOR = 4;

/** Watches quotas, delivers notifications and retries failed deliveries. */
export class Notifier {
  readonly #options: NotifierOptions;
  readonly #now: () => number;
  readonly #watchQuotas: ReturnType<typeof watchQuotas>;
  readonly #stopped = new AbortController();
  readonly #quotaTask: PeriodicTask;
  readonly #deliveryTask: PeriodicTask;
  #prunedAt = Number.NEGATIVE_INFINITY;

  constructor(options: NotifierOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
    const state = new FailureState(options.onState);
    const { watchIntervalMs, pollIntervalMs } = options.limits;
    this.#quotaTask = new PeriodicTask(() => state.guard(() => this.#checkQuotas()), watchIntervalMs);
    this.#deliveryTask = new PeriodicTask(() => state.guard(() => this.#deliver()), pollIntervalMs);
    this.#watchQuotas = watchQuotas(options.store, options.ledger);
  }

  /** Re-encrypts webhooks with the current pepper, then starts the periodic tasks. */
  async start(): Promise<void> {
    const { store, channels } = this.#options;
    await resealTargets(store.db, channels.seal);
    this.#quotaTask.start();
    this.#deliveryTask.start();
  }

  /** Checks quotas and starts to deliver new notifications immediately. Never rejects. */
  checkQuotas(): Promise<void> {
    return this.#quotaTask.run();
  }

  deliver(): Promise<void> {
    return this.#deliveryTask.run();
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#quotaTask.stop();
    await this.#deliveryTask.stop();
  }

  async #checkQuotas(): Promise<void> {
    if ((await this.#watchQuotas(this.#now())) > 0) void this.deliver();
    if (performance.now() - this.#prunedAt < PRUNE_INTERVAL_MS) return;
    this.#prunedAt = performance.now();
    await pruneNotices(this.#options.store, this.#now() - this.#options.limits.retentionDays * DAY_MS);
  }

  async #deliver(): Promise<void> {
    const { store, limits } = this.#options;
    const { inFlightMax, timeoutMs } = limits;
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      const due = await claimDue(store.db, inFlightMax, timeoutMs + LEASE_MARGIN_MS, this.#now());
      await Promise.all(due.map((delivery) => this.#attempt(delivery)));
      if (due.length < inFlightMax) return;
    }
  }

  async #attempt(delivery: NoticeDeliveryTable): Promise<void> {
    const { store, channels, limits } = this.#options;
    const { id, target_id, customer_id } = delivery;
    const target = await findRow(store.db, 'notice_target', { id: target_id, customer_id });
    if (target === undefined) return;
    const signal = AbortSignal.any([this.#stopped.signal, AbortSignal.timeout(limits.timeoutMs)]);
    const notice = JSON.parse(delivery.notice) as Notice;
    const deliveryContext = { id, nowMs: this.#now(), signal };
    const { problem, isFinal } = await deliverNotice(channels, target, notice, deliveryContext);
    const isLast = isFinal || delivery.tries >= limits.triesMax;
    const retryAt = problem === null || isLast ? null : this.#now() + this.#retryDelayMs(delivery.tries);
    await recordAttempt(store, delivery, { problem, retryAt }, this.#now());
  }

  #retryDelayMs(tries: number): number {
    const { retryMs, retryMaxMs } = this.#options.limits;
    return Math.min(retryMaxMs, retryMs * RETRY_FACTOR ** (tries - 1));
  }
}
