import { subnetOf } from '../../../base/ip-address.ts';
import { AttemptLimiter } from '../../../gateway/auth/attempt-limiter.ts';
import { startAttempt } from '../../accounts/sign-in-attempts.ts';
import {
  activeUsageLinks,
  addUsageLink,
  findUsageLink,
  revokeUsageLink,
} from '../../accounts/usage-links.ts';
import { fieldsOf } from '../../database/rows.ts';
import type { UsageLinkTable } from '../../database/tables/accounts.ts';
import { axisOver, monthRange, stepMs } from '../../usage/read-usage.ts';
import { limitReached, notFound } from '../api-error.ts';
import type { ParsedRouteInput } from '../contract/contract.ts';
import { type ApiContext, defineHandlers } from '../handler.ts';
import type { ApiServices } from '../services.ts';
import { withAudit } from './audit.ts';
import { requireCustomer } from './customers.ts';
import { linkWithToken } from './invitations.ts';
import { limitReads } from './limit-reads.ts';
import { grantExpiry } from './tokens.ts';
import { readMonth } from './usage.ts';
import { usageSeriesOf } from './usage-series.ts';

const CREATE_ROUTE = 'POST /customers/{customer}/usage-links';

const linkJson = (row: UsageLinkTable) =>
  fieldsOf(row, 'id', 'name', 'created_by', 'created_at', 'expires_at');

async function create(
  services: ApiServices,
  { path: { customer }, body: { name, days } }: ParsedRouteInput<typeof CREATE_ROUTE>,
  context: ApiContext,
) {
  const { usageLinksMax } = services.accounts.limits;
  const { token, row } = await withAudit(services, context, async (trx) => {
    const at = services.now();
    const links = await activeUsageLinks(trx, at).where('customer_id', '=', customer).execute();
    if (links.length >= usageLinksMax)
      throw limitReached(`The maximum of ${usageLinksMax} links has been reached. Revoke some first.`);
    const expires_at = await grantExpiry(trx, context, at + days * stepMs.day);
    const times = { created_by: context.actor, created_at: at, expires_at };
    const created = await addUsageLink(trx, { customer_id: customer, name, ...times });
    const detail = { link: created.row.id, name, expiresAt: expires_at };
    return [created, { action: 'usage-link.create', customerId: customer, detail }];
  });
  return { link: linkJson(row), url: linkWithToken(services, context, '/usage-link', token) };
}

function revoke(services: ApiServices, customer: string, id: string, context: ApiContext) {
  return withAudit(services, context, async (trx) => {
    const links = activeUsageLinks(trx, services.now()).where('customer_id', '=', customer);
    const row = await links.where('id', '=', id).executeTakeFirst();
    if (row === undefined) throw notFound('There is no such link. See the list of links for the ids.');
    await revokeUsageLink(trx, id);
    const detail = { link: id, name: row.name };
    return [{ done: true as const }, { action: 'usage-link.revoke', customerId: customer, detail }];
  });
}

async function readLinked(services: ApiServices, { customer_id, expires_at }: UsageLinkTable) {
  const { store, now } = services;
  const at = now();
  const { name } = await requireCustomer(store.db, customer_id);
  const usage = {
    axis: axisOver('day', monthRange(at).from, at + 1),
    filter: { customerId: customer_id },
  };
  return {
    customerName: name,
    expiresAt: expires_at,
    ...(await readMonth(store, customer_id, at)),
    byProduct: await usageSeriesOf(services, usage, 'product', at),
    byMethod: await usageSeriesOf(services, usage, 'method', at),
  };
}

export function usageLinkHandlers(services: ApiServices) {
  const { store, now, accounts } = services;
  const failedTokenLimit = new AttemptLimiter(accounts.limits.addressAttempts, now);
  // Reading costs many statements, and needs no account.
  const limitRead = limitReads('reads of this link');
  return defineHandlers({
    'GET /customers/{customer}/usage-links': async ({ path }) => {
      const links = activeUsageLinks(store.db, now()).where('customer_id', '=', path.customer);
      return { links: (await links.orderBy('created_at').orderBy('id').execute()).map(linkJson) };
    },
    [CREATE_ROUTE]: async (input, context) => create(services, input, context),
    'DELETE /customers/{customer}/usage-links/{link}': ({ path }, context) =>
      revoke(services, path.customer, path.link, context),
    async 'POST /usage-links/preview'({ body }, { address }) {
      const row = await findUsageLink(store.db, body.token, now());
      if (row !== null) return limitRead(row.id, () => readLinked(services, row));
      // As for API tokens, failures from a shared address do not block valid links.
      startAttempt(failedTokenLimit, address === null ? '' : subnetOf(address)).fail();
      throw notFound('This link has expired or was revoked. Ask for a new one.');
    },
  });
}
