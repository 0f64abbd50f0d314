import { useNavigate } from '@tanstack/react-router';
import { roleNames } from '../pages/team/role-descriptions.ts';
import { useChangeSearch } from '../range.ts';
import { remember } from '../theme.ts';
import { Icon } from '../ui/icon.tsx';
import { Menu } from '../ui/menu.tsx';
import { useSession } from './session.tsx';

/** Operators reach the rest through "Manage customers…". */
const CUSTOMERS_LISTED_MAX = 20;

export const CUSTOMER_STORAGE_KEY = 'solway.customer';

export function CustomerSwitch() {
  const { customer, customers, user } = useSession();
  const navigate = useNavigate();
  const change = useChangeSearch();
  const toAll = () =>
    void navigate({ to: '/settings', search: (before) => ({ ...before, tab: 'customers' }) });
  if (customers.length < 2 && !user.isOperator)
    return (
      <p className="customer customer-only" title={customer.name}>
        <span className="customer-name">{customer.name}</span>
        <span className="customer-role">{roleNames[customer.role]}</span>
      </p>
    );
  return (
    <Menu
      label={`Customer: ${customer.name}`}
      button={
        <>
          <span className="customer-name">{customer.name}</span>
          <Icon name="down" size={12} />
        </>
      }
      buttonProps={{ className: 'customer' }}
      items={(user.isOperator ? customers.slice(0, CUSTOMERS_LISTED_MAX) : customers)
        .map((one) => ({
          label: (
            <>
              {one.name} <span className="muted">{roleNames[one.role]}</span>
            </>
          ),
          checked: one.id === customer.id,
          onSelect: () => {
            remember(CUSTOMER_STORAGE_KEY, one.id);
            change({ customer: one.id, key: undefined });
          },
        }))
        .concat(user.isOperator ? [{ label: <>Manage customers…</>, checked: false, onSelect: toAll }] : [])}
    />
  );
}
