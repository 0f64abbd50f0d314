import { DEFAULT_CUSTOMER_ID } from '../../accounts/roles.ts';
import { readAlerts, readSilences, setSilence } from '../../alerts/alert-log.ts';
import { deleteRows, fieldsOf } from '../../database/rows.ts';
import type { AlertSilenceTable, AlertTable } from '../../database/tables/alerts.ts';
import { problemCodes } from '../../health/problem-codes.ts';
import { PAGERDUTY_URL } from '../../notifications/pagerduty.ts';
import { listTargets, type TargetScope } from '../../notifications/targets.ts';
import { invalidField, notFound } from '../api-error.ts';
import type { ParsedRouteInput } from '../contract/contract.ts';
import { type ApiContext, defineHandlers } from '../handler.ts';
import type { ApiServices } from '../services.ts';
import { withAudit } from './audit.ts';
import { addTargetOf, removeTargetOf, type TargetInput, targetJson, testTargetOf } from './notice-targets.ts';

/** Alerts are the operators'; their targets are stored with the built-in customer. */
const scope: TargetScope = { customerId: DEFAULT_CUSTOMER_ID, isAlert: true };

const ALERTS_MAX = 100;
const SILENCE_MAX_MS = 366 * 86_400_000;

const alertJson = (row: AlertTable) => ({
  ...fieldsOf(row, 'id', 'code', 'severity', 'network', 'node', 'text', 'page', 'since', 'raised_at'),
  ...fieldsOf(row, 'notified_at', 'resolved_at'),
  customer: row.customer_id === null ? null : { id: row.customer_id, name: row.customer_name ?? '' },
});

const silenceJson = (row: AlertSilenceTable) => ({
  ...fieldsOf(row, 'until', 'created_by', 'created_at'),
  code: row.code === '' ? null : row.code,
});

function targetInput({
  kind,
  to,
  routingKey,
}: ParsedRouteInput<'POST /alerts/targets'>['body']): TargetInput {
  if (kind === 'pagerduty') {
    if (routingKey === undefined)
      throw invalidField('routingKey', 'is missing: it is the integration key of Events API v2');
    return { kind, to: to ?? PAGERDUTY_URL, secret: routingKey };
  }
  if (to === undefined) throw invalidField('to', 'is missing');
  return { kind, to };
}

function silence(
  services: ApiServices,
  { code, until }: ParsedRouteInput<'POST /alerts/silences'>['body'],
  context: ApiContext,
) {
  const now = services.now();
  if (until <= now) throw invalidField('until', 'must be in the future');
  if (until > now + SILENCE_MAX_MS) throw invalidField('until', 'must be within a year');
  return withAudit(services, context, async (trx) => {
    const row = { until, created_by: context.actor, created_at: now };
    await setSilence(trx, code ?? '', row);
    const detail = { code: code ?? 'all', until: new Date(until).toISOString() };
    return [silenceJson({ ...row, code: code ?? '' }), { action: 'alert.silence', customerId: null, detail }];
  });
}

function endSilence(services: ApiServices, name: string, context: ApiContext) {
  const code = name === 'all' ? '' : problemCodes.find((one) => one === name);
  return withAudit(services, context, async (trx) => {
    if (code === undefined || (await deleteRows(trx, 'alert_silence', { code })) === 0)
      throw notFound('There is no such silence. GET /alerts lists them.');
    return [{ done: true as const }, { action: 'alert.unsilence', customerId: null, detail: { code: name } }];
  });
}

export const alertHandlers = (services: ApiServices) =>
  defineHandlers({
    async 'GET /alerts'() {
      const { store, now } = services;
      const [alerts, targets, silences] = await Promise.all([
        readAlerts(store, ALERTS_MAX),
        listTargets(store.db, scope),
        readSilences(store, now()),
      ]);
      return {
        alerts: alerts.map(alertJson),
        targets: targets.map(targetJson),
        silences: silences.map(silenceJson),
      };
    },
    'POST /alerts/targets': async ({ body }, context) =>
      addTargetOf(services, scope, targetInput(body), context),
    'POST /alerts/targets/{target}/test': ({ path }, context) =>
      testTargetOf(services, scope, path.target, context),
    'DELETE /alerts/targets/{target}': ({ path }, context) =>
      removeTargetOf(services, scope, path.target, context),
    'POST /alerts/silences': async ({ body }, context) => silence(services, body, context),
    'DELETE /alerts/silences/{code}': async ({ path }, context) => endSilence(services, path.code, context),
  });
