import { Outlet, useRouter } from '@tanstack/react-router';
import { useEffect, useMemo } from 'react';
import { DEFAULT_CUSTOMER_ID } from '../default-tenant.ts';
import { useCall } from '../queries.ts';
import { useFrameSearch } from '../range.ts';
import { recall } from '../theme.ts';
import { FormError } from '../ui/field.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { CUSTOMER_STORAGE_KEY } from './customer-switch.tsx';
import { FirstCustomer } from './first-customer.tsx';
import { ModeBanner } from './mode-banner.tsx';
import { ProblemBanner } from './problem-banner.tsx';
import { Rail } from './rail.tsx';
import { type Customer, type Me, roleAllows, type Session, SessionProvider, type User } from './session.tsx';

export function Frame() {
  const me = useCall('GET /me', {}, { refetchMs: 60_000 });

  if (me.data === undefined)
    return (
      <main className="alone">{me.error === null ? <Skeleton /> : <FormError problem={me.error} />}</main>
    );
  if (me.data.user === null) return <ToSignIn />;
  return <SignedInFrame me={me.data} user={me.data.user} />;
}

function ToSignIn() {
  const router = useRouter();
  useEffect(() => {
    const { href: here, pathname } = router.state.location;
    if (pathname === '/sign-in') return;
    void router.navigate({ to: '/sign-in', search: here === '/' ? {} : { next: here }, replace: true });
  }, [router]);
  return <main className="alone" />;
}

function SignedInFrame({ me, user }: { me: Me; user: User }) {
  const session = useChosenCustomer(me, user);
  if (session === null) return <FirstCustomer canCreate={me.service.signUp === 'open' || user.isOperator} />;
  return (
    <SessionProvider value={session}>
      <a href="#page" className="skip">
        Skip to content
      </a>
      <div className="frame">
        <Rail />
        {/* Remounts the page when the customer changes. */}
        <main id="page" tabIndex={-1} key={session.customer.id}>
          {/* On a phone, the menu that names the customer is closed. */}
          <p className="phone-customer" title={session.customer.name}>
            Customer <strong>{session.customer.name}</strong>
          </p>
          <ProblemBanner />
          <ModeBanner />
          {session.customer.state === 'suspended' ? (
            <p className="banner" role="status">
              {session.customer.name} is suspended. Its API keys are rejected, and the dashboard is read-only.
            </p>
          ) : null}
          <Outlet />
        </main>
      </div>
    </SessionProvider>
  );
}

function useChosenCustomer(me: Me, user: User): Session | null {
  const { customer: requestedId } = useFrameSearch();
  const ownCustomer = useMemo(() => customersOf(me, user), [me, user]);
  const isForeign =
    user.isOperator && requestedId !== undefined && !ownCustomer.some(({ id }) => id === requestedId);
  const foreign = useCall(
    'GET /customers/{customer}',
    { path: { customer: requestedId ?? DEFAULT_CUSTOMER_ID } },
    { enabled: isForeign },
  );
  return useMemo(() => {
    const customers =
      foreign.data === undefined
        ? ownCustomer
        : [...ownCustomer, { ...foreign.data, role: 'owner' as const }];
    const customer =
      customers.find(({ id }) => id === requestedId) ??
      customers.find(({ id }) => id === recall(CUSTOMER_STORAGE_KEY)) ??
      customers[0];
    if (customer === undefined) return null;
    const can = (required: Customer['role']): boolean =>
      user.isOperator || roleAllows(customer.role, required);
    return { user, customers, customer, service: me.service, can };
  }, [ownCustomer, foreign.data, requestedId, user, me.service]);
}

function customersOf(me: Me, user: User): readonly Customer[] {
  if (!user.isOperator || me.customers.some(({ id }) => id === DEFAULT_CUSTOMER_ID)) return me.customers;
  const defaultTenant = {
    id: DEFAULT_CUSTOMER_ID,
    name: 'Default',
    planId: '',
    state: 'active',
    createdAt: 0,
    role: 'owner',
  } as const;
  return [defaultTenant, ...me.customers];
}
