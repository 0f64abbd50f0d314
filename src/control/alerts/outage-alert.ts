import { readFile, rm, writeFile } from 'node:fs/promises';
import type { Store } from '../database/store.ts';
import type { AlertSilenceTable } from '../database/tables/alerts.ts';
import type { NoticeTargetTable } from '../database/tables/notices.ts';
import { type GatewayProblem, pageOf } from '../health/problem.ts';
import { alertTargets } from '../notifications/delivery-queue.ts';
import { deliverNotice, type NoticeChannels } from '../notifications/notifier.ts';
import { alertNoticeOf, alertRow, isSilenced, type OpenAlert, storeSentAlert } from './alert-log.ts';

type OutageOptions = Readonly<{ timeoutMs: number; triesMax: number; retryMs: number }>;

type OutageAlertParts = Readonly<{
  gatewayId: string;
  channels: NoticeChannels;
  /** Stores the alert that was sent, so that a restart neither repeats it nor forgets to resolve it. */
  file: string;
  /** The limits of other notices. */
  limits: OutageOptions;
}>;

type Sending = { readonly target: NoticeTargetTable; tries: number; dueAt: number };

/** Sends the alert about the unreachable database, from what is in memory. Only one gateway sends it. */
export class OutageAlert {
  readonly #parts: OutageAlertParts;
  #targets: readonly NoticeTargetTable[] = [];
  #silences: readonly AlertSilenceTable[] = [];
  /** Whether this gateway had the lowest id when the database last responded. */
  #isSender = true;
  #sent: OpenAlert | null = null;
  #sending: readonly Sending[] = [];

  constructor(parts: OutageAlertParts) {
    this.#parts = parts;
  }

  /** Reads the alert of an earlier run. */
  async start(): Promise<void> {
    const text = await readFile(this.#parts.file, 'utf8').catch(() => null);
    if (text === null) return;
    try {
      this.#sent = JSON.parse(text) as OpenAlert;
    } catch {
      await rm(this.#parts.file, { force: true });
    }
  }

  /** Remembers what is needed once the database is unreachable. */
  async prepare(
    { db }: Store,
    silences: readonly AlertSilenceTable[],
    gatewayIds: readonly string[],
  ): Promise<void> {
    this.#targets = await alertTargets(db);
    this.#silences = silences;
    const [first = this.#parts.gatewayId] = gatewayIds.toSorted();
    this.#isSender = first === this.#parts.gatewayId;
  }

  /** Sends the alert once, and repeats failed attempts at later calls. Never rejects. */
  async alert(cause: GatewayProblem, nowMs: number): Promise<void> {
    const silences = this.#silences.filter(({ until }) => until > nowMs);
    if (this.#sent === null) {
      if (!this.#isSender || this.#targets.length === 0 || isSilenced(silences, cause.code)) return;
      const problem = { ...cause, customer: null, gateways: [], page: pageOf(cause.code) };
      this.#sent = alertRow(problem, nowMs);
      this.#sending = this.#targets.map((target) => ({ target, tries: 0, dueAt: nowMs }));
      await this.#save(this.#sent);
    }
    const due = this.#sending.filter(({ dueAt }) => dueAt <= nowMs);
    const row = this.#sent;
    await Promise.all(due.map((sending) => this.#attempt(row, sending, nowMs)));
  }

  /**
   * Stores the alert as open, so that it is resolved like others. If no recipient got it, none gets the resolution.
   * @throws the database driver's error
   */
  async store({ db }: Store): Promise<void> {
    if (this.#sent === null) return;
    await storeSentAlert(db, this.#sent);
    this.#sent = null;
    this.#sending = [];
    await rm(this.#parts.file, { force: true });
  }

  /** If the disk is full, the alert is sent all the same. */
  async #save(row: OpenAlert): Promise<void> {
    await writeFile(this.#parts.file, JSON.stringify(row), { mode: 0o600 }).catch(() => undefined);
  }

  async #attempt(row: OpenAlert, sending: Sending, nowMs: number): Promise<void> {
    const { channels, limits } = this.#parts;
    const { timeoutMs, triesMax, retryMs } = limits;
    sending.tries += 1;
    const attempt = { id: `${row.id}-${sending.target.id}`, nowMs, signal: AbortSignal.timeout(timeoutMs) };
    const notice = alertNoticeOf(row, 'alert.raised', nowMs);
    const { problem, isFinal } = await deliverNotice(channels, sending.target, notice, attempt);
    if (problem === null && this.#sent?.notified_at === null) {
      this.#sent = { ...this.#sent, notified_at: nowMs };
      await this.#save(this.#sent);
    }
    if (problem === null || isFinal) this.#sending = this.#sending.filter((one) => one !== sending);
    // Tried as long as the outage lasts, which may also affect the way to the recipient.
    else sending.dueAt = nowMs + retryMs * Math.min(sending.tries, triesMax);
  }
}
