import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { IconButton } from '../ui/button.tsx';
import { Icon, Mark } from '../ui/icon.tsx';
import { CustomerSwitch } from './customer-switch.tsx';
import { type NavItem, navItems } from './navigation.ts';
import { type Session, useSession } from './session.tsx';
import { UserMenu } from './user-menu.tsx';

const isVisible =
  ({ user, can }: Session) =>
  ({ needs }: NavItem): boolean =>
    needs === undefined || user.isOperator || (needs === 'admin' && can('admin'));

export function Rail() {
  const session = useSession();
  const [isOpen, setIsOpen] = useState(false);
  const visible = isVisible(session);
  const close = (): void => setIsOpen(false);

  return (
    <>
      <header className={`rail ${isOpen ? 'rail-open' : ''}`}>
        <div className="rail-brand">
          <Link to="/" className="brand" onClick={close}>
            <Mark />
            <span>Solway</span>
          </Link>
          <span className="rail-close">
            <IconButton icon="close" label="Close menu" onClick={close} />
          </span>
        </div>
        <CustomerSwitch />
        <nav aria-label="Pages" className="rail-nav">
          {navItems.map((group) => (
            <div key={group.title} className="rail-group">
              <p className="rail-title" id={`rail-${group.title}`}>
                {group.title}
              </p>
              <ul aria-labelledby={`rail-${group.title}`}>
                {group.navItems.filter(visible).map((item) => (
                  <li key={item.to}>
                    <RailLink item={item} onGo={close} />
                  </li>
                ))}
              </ul>
            </div>
          ))}
        </nav>
        <div className="rail-foot">
          <UserMenu />
        </div>
      </header>
      {isOpen ? <div className="rail-shade" onClick={close} aria-hidden="true" /> : null}
      <nav aria-label="Main pages" className="bar">
        {navItems
          .flatMap((group) => group.navItems)
          .filter(({ first }) => first === true)
          .map((item) => (
            <RailLink key={item.to} item={item} onGo={close} />
          ))}
        <button type="button" className="rail-link" aria-expanded={isOpen} onClick={() => setIsOpen(true)}>
          <Icon name="menu" />
          <span>More</span>
        </button>
      </nav>
    </>
  );
}

const RailLink = ({ item, onGo }: { item: NavItem; onGo: () => void }) => (
  <Link
    to={item.to}
    className="rail-link"
    activeOptions={{ exact: item.to === '/', includeSearch: false }}
    activeProps={{ 'aria-current': 'page' }}
    onClick={onGo}
  >
    <Icon name={item.icon} />
    <span>{item.title}</span>
  </Link>
);
