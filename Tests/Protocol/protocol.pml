/*
 * How writers, forget and prune keep out of each other's way: a model for spin, which `check` beside it runs.
 *
 * One database. Sequence 1 is a snapshot that needs pack 0. Each writer stores one pack, numbered as the writer, and a
 * snapshot that needs it and may need what the newest snapshot needs. Each d_step is one request to the store; between two
 * requests anybody else may do anything, for as long as they like: that is a process that sleeps or is stopped. A writer may
 * also die before each request that stores something.
 *
 *   here                    in Sources/LiteVaultRepository
 *   write: lease            Lease.take (Repository/Lease.swift)
 *   write: plan, promise    plan, Lease.promise (Snapshots/WritableRepository+Snapshot.swift)
 *   write: packs, publish   upload, publish (the same)
 *   end_lease               WritableRepository.fence, Lease.take and Lease.end (Repository/Fence.swift, Lease.swift)
 *   forget                  WritableRepository.forget, remove(_:marked:) (Retention/WritableRepository+Forget.swift)
 *   prune                   WritableRepository.prune (Retention/WritableRepository+Prune.swift), PendingDeletions (Repository)
 *
 * There are no clocks in it, on purpose. Whether a lease is too old is told by clocks that may be wrong, or be put back or
 * forward, so here anybody may take any lease for stale at any time. The time of grace is over at once.
 *
 * An answer that is lost: publishing may be repeated after it took effect, at any later time, or given up. To repeat the write
 * of a lease changes nothing, as it is known again by its holder. Nobody but prune counts on the lease of prune: two of them
 * may run at the same time (PRUNERS), and one may sleep before it removes what it chose long ago.
 *
 * The invariant, LISTED: every snapshot that is listed has all of its packs. And when all others ended or died, the last
 * process shows that nothing is blocked for ever: it stores a snapshot, and every pack that no snapshot needs goes.
 *
 * Each of these leaves out one part of the protocol and must fail, or the model would not see what the part is for:
 *   NOFENCE   whoever ends a lease does not occupy the name that its holder would publish
 *   NOMARK    a name that was published under a lease which was ended is free again after forget
 *   CLOCKS    whether a writer at work may have stored a pack is told by comparing times, and the clock was put back
 *   ORDER     prune reads the manifests before the leases
 *   TODAY     the protocol before issue 10: NOFENCE, NOMARK and CLOCKS
 *
 * PLAIN is a store without conditional writes: a condition is a look before the write there, as far as there is one. Each writer
 * has an object of its own, `announced`, which prune alone ends: when the writer is known to be dead, or after the week that the
 * page on the format states. That nobody sleeps longer is assumed. SHORT shows what comes of it otherwise.
 */
#ifdef TODAY
#define NOFENCE
#define NOMARK
#define CLOCKS
#endif

#ifndef ROUNDS
#define ROUNDS 3
#endif
#define LAST 3                 /* the writer that comes after all others */
#define PACKS 4
#define NAMES 6                /* sequences 1 … NAMES-1 */
#define BIT(n) (1 << (n))

#define ABSENT 0
#define SNAPSHOT 1
#define FENCE 2

/* The store. */
byte packs = BIT(0);           /* data/, tree/ */
byte object[NAMES];            /* snapshots/DATABASE/n */
byte needs[NAMES];             /* the packs of the snapshot n */
byte author[NAMES];            /* who stored it: its bytes */
bool mark[NAMES];              /* fences/DATABASE/n */
byte holder = 0;               /* leases/DATABASE: 0 when released or ended */
byte promised = 0;             /* its sequence, 0 until it is recorded */
byte announced = 0;            /* PLAIN: one object a writer */
byte doomed = 0;               /* doomed.json: packs */
byte doomedRun[PACKS];         /* … in which run each was listed */
byte writerRun[PACKS];         /* … in which run each writer was first seen */
byte runs = 0;                 /* … and how many runs there were */

/* What the model keeps for itself. */
byte dead = 0;                 /* writers that died */
byte over = 0;                 /* processes that ended or died */

#define OK(n) (object[n] != SNAPSHOT || (needs[n] & packs) == needs[n])
#define LISTED (OK(1) && OK(2) && OK(3) && OK(4) && OK(5))

inline newest(s, top) {        /* the newest snapshot, and the last name in use */
    s = NAMES - 1;
    do :: s > 0 && object[s] != SNAPSHOT -> s-- :: else -> break od;
    top = NAMES - 1;
    do :: top > 0 && object[top] == ABSENT -> top-- :: else -> break od;
}

/* Somebody takes the lease that had (h, p) for stale. First its name is occupied, then the lease may go. */
inline end_lease(h, p, new) {
#if !defined(NOFENCE) && !defined(PLAIN)
    if
    :: p != 0 ->
        d_step { if :: object[p] == ABSENT -> object[p] = FENCE; author[p] = 0 :: else -> skip fi }
#ifndef NOMARK
        d_step { if :: object[p] == SNAPSHOT -> mark[p] = true :: else -> skip fi }
#endif
    ::  else -> skip
    fi;
#endif
#ifdef PLAIN
    d_step { holder = new; promised = 0 }
#else
    d_step { if :: holder == h && promised == p -> holder = new; promised = 0 :: else -> skip fi }
#endif
}

/* id stores a snapshot. `alone`: nobody else is left. */
inline write(id, alone) {
#ifdef PLAIN
    d_step { announced = announced | BIT(id) }
#endif
    /* lease */
    d_step { h = holder; p = promised }
    if
    :: h == 0 ->
#ifdef PLAIN
        d_step { holder = id; promised = 0 }
#else
        d_step { if :: holder == 0 -> holder = id; promised = 0 :: else -> skip fi }
#endif
    :: h != 0 -> end_lease(h, p, id)
    :: h != 0 && !alone -> goto busy
    fi;
    if :: holder != id -> goto busy :: else -> skip fi;
    /* plan, promise */
    d_step { newest(s, top); base = needs[s]; s = top + 1; assert(s < NAMES) }
#ifdef PLAIN
    if :: holder != id -> goto busy :: else -> skip fi;
    d_step { holder = id; promised = s }
#else
    d_step { if :: holder == id -> promised = s :: else -> lost = true fi }
    if :: lost -> goto busy :: else -> skip fi;
#endif
    /* What doomed.json lists is not taken over. */
    if :: base = BIT(id) :: d_step { base = BIT(id) | (base & ~doomed) } fi;
    if :: !alone -> goto gone :: skip fi;
    /* packs */
    d_step { packs = packs | BIT(id) }
    if :: !alone -> goto gone :: skip fi;
    /* confirm */
    if :: holder != id -> goto busy :: else -> skip fi;
    if :: !alone -> goto gone :: skip fi;
#ifdef PLAIN
    if :: object[s] != ABSENT -> goto busy :: else -> skip fi;
publish:   skip;
    d_step { object[s] = SNAPSHOT; needs[s] = base; author[s] = id }
    if :: goto publish :: !alone -> goto gone :: skip fi;
#else
publish:   skip;
    d_step {
        if
        :: object[s] == ABSENT -> object[s] = SNAPSHOT; needs[s] = base; author[s] = id
        :: else -> if :: object[s] == SNAPSHOT && author[s] == id :: else -> lost = true fi
        fi
    }
    if :: lost -> goto busy :: else -> skip fi;
    if :: !alone -> goto publish       /* the answer was lost */
    :: !alone -> goto gone             /* … and it gives up, without releasing the lease */
    :: skip fi;
#endif
    stored = true;
busy:   skip;
    d_step { if :: holder == id -> holder = 0; promised = 0 :: else -> skip fi; announced = announced & ~BIT(id); }
    goto done;
gone:   skip;
    d_step { dead = dead | BIT(id) }
done:
    skip
}

/* Removes one snapshot that is not the newest. */
inline forget() {
    d_step { newest(s, top); top = 0 }
    if
    :: object[1] == SNAPSHOT && s > 1 -> p = 1
    :: object[2] == SNAPSHOT && s > 2 -> p = 2
    :: object[3] == SNAPSHOT && s > 3 -> p = 3
    :: p = 0
    fi;
    d_step { marked = mark[p]; s = 0 }
    if
    :: p == 0
    :: p != 0 && marked -> d_step { object[p] = FENCE; needs[p] = 0; author[p] = 0; p = 0 }
    :: p != 0 && !marked -> d_step { object[p] = ABSENT; needs[p] = 0; author[p] = 0; p = 0 }
    fi;
    marked = false
}

inline manifests() {
    d_step {
        used = 0; s = 1;
        do :: s < NAMES -> if :: object[s] == SNAPSHOT -> used = used | needs[s] :: else -> skip fi; s++ :: else -> break od;
        s = 0
    }
}

inline prune(alone) {
    d_step { found = packs }
#ifdef ORDER
    manifests();
#endif
    /* The leases. */
    atwork = 0;
#ifdef PLAIN
    d_step { atwork = announced }
    if
#ifdef SHORT
    :: atwork != 0 -> d_step { announced = announced & ~atwork; atwork = 0 }
#endif
    :: (atwork & dead) != 0 -> d_step { announced = announced & ~(atwork & dead); atwork = atwork & ~dead }
    :: (atwork & dead) == 0 || !alone -> skip
    fi;
#else
    d_step { h = holder; p = promised }
    if
    :: h != 0 -> end_lease(h, p, 0); if :: holder == h -> atwork = BIT(h) :: else -> skip fi
    :: h != 0 && !alone -> atwork = BIT(h)
    :: h == 0
    fi;
#endif
    d_step { h = 0; p = 0 }
#ifndef ORDER
    manifests();
#endif
    d_step { /* doomed.json is read … */
        going = 0; top = runs + 1; s = 0;
        do
        :: s < PACKS ->
            if
            :: (found & BIT(s)) && !(used & BIT(s)) && (doomed & BIT(s)) ->
                going = going | BIT(s);
#ifndef CLOCKS
                h = 1;
                do
                :: h < PACKS ->
                    if :: (atwork & BIT(h)) && writerRun[h] != 0 && writerRun[h] <= doomedRun[s] -> going = going & ~BIT(s)
                    :: else -> skip fi;
                    h++
                :: else -> break
                od;
                h = 0
#endif
            ::  else -> skip
            fi;
            kept[s] = ((doomed & BIT(s)) -> doomedRun[s] : top);
            first[s] = ((atwork & BIT(s)) -> (writerRun[s] != 0 -> writerRun[s] : top) : 0);
            s++
        :: else -> break
        od;
        s = 0; atwork = 0
    }
    d_step { /* … and replaced, whoever replaced it meanwhile */
        doomed = found & ~used; runs = top; s = 0;
        do :: s < PACKS -> doomedRun[s] = ((doomed & BIT(s)) -> kept[s] : 0); writerRun[s] = first[s]; kept[s] = 0; first[s] = 0; s++ :: else -> break od;
        s = 0; top = 0; found = 0; used = 0
    }
    d_step { packs = packs & ~going; going = 0 }
}

proctype Writer(byte id) {
    byte h, p, s, top, base;
    bool lost, stored;
    write(id, false);
    d_step { over++; h = 0; p = 0; s = 0; top = 0; base = 0; lost = false; stored = false }
}

proctype Remover() {
    byte s, top, p, h, found, used, atwork, going, rounds;
    byte kept[PACKS], first[PACKS];
    bool marked;
    do
    :: rounds < ROUNDS -> rounds++; if :: skip; forget() :: skip; prune(false) fi
    :: break
    od;
    skip;
    d_step { over++; rounds = 0 }
}

/* Looks all the time; no state of its own. */
active proctype Monitor() {
end:
    if :: atomic { !(LISTED) -> assert(LISTED) } fi
}

init {
    byte h, p, s, top, base, found, used, atwork, going, others;
    byte kept[PACKS], first[PACKS];
    bool lost, stored, marked;
    atomic {
        object[1] = SNAPSHOT; needs[1] = BIT(0);
        run Writer(1); run Remover();
#ifdef PRUNERS
        run Remover();
#else
        run Writer(2);
#endif
        others = 3
    }
    over == others;
    /* Nothing stays blocked for ever, and nothing stays that nobody needs. */
    write(LAST, true);
    assert(stored);
    prune(true); prune(true); prune(true);
    manifests();
    assert(packs == used)
}
