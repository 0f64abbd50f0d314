import { listTargets, type TargetScope } from '../../notifications/targets.ts';
import { defineHandlers } from '../handler.ts';
import type { ApiServices } from '../services.ts';
import { addTargetOf, removeTargetOf, targetJson, testTargetOf } from './notice-targets.ts';

const scopeOf = ({ customer }: Readonly<{ customer: string }>): TargetScope => ({
  customerId: customer,
  isAlert: false,
});

export const noticeHandlers = (services: ApiServices) =>
  defineHandlers({
    'GET /customers/{customer}/notices': async ({ path }) => ({
      targets: (await listTargets(services.store.db, scopeOf(path))).map(targetJson),
    }),
    'POST /customers/{customer}/notices': async ({ path, body }, context) =>
      addTargetOf(services, scopeOf(path), body, context),
    'POST /customers/{customer}/notices/{notice}/test': ({ path }, context) =>
      testTargetOf(services, scopeOf(path), path.notice, context),
    'DELETE /customers/{customer}/notices/{notice}': ({ path }, context) =>
      removeTargetOf(services, scopeOf(path), path.notice, context),
  });
