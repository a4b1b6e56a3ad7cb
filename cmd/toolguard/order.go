package main

import (
	"context"

	"golang.org/x/sync/semaphore"

	"github.com/toolguard/toolguard/internal/contain"
)

// weightPerJob is the number of bytes per job that may be in progress or waiting
// for the results of earlier files.
const weightPerJob = 32 << 20

// inOrder calls work for several items at a time and passes the results and errors to
// done in the order of the items. It limits the weight of the items in progress, so
// that results do not pile up behind a large item. It stops at the first error of
// done, or when the context ends. It does not wait for work in progress then,
// because a read may block forever.
//
// A panic of work is the error of its item. So is one of done, which is then called
// again for this item, with that error and no result.
func inOrder[T, R any](ctx context.Context, items []T, jobs int, weight func(T) int64, work func(context.Context, T) (R, error), done func(T, R, error) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	most := int64(jobs) * weightPerJob
	heavy := semaphore.NewWeighted(most)
	weigh := func(item T) int64 { return min(max(weight(item), weightPerJob/32), most) }

	type outcome struct {
		of  R
		err error
	}
	type task struct {
		item   T
		result chan<- outcome
	}
	results, tasks := make(chan chan outcome, jobs*32), make(chan task)
	// Nothing is expected to panic here: work is contained below.
	failed := func(*contain.Error) { cancel() }
	for range min(jobs, len(items)) { // the stack of a worker grows once, and not for each item
		contain.Go(func() {
			for t := range tasks {
				var o outcome
				o.err = contain.Do(func() (err error) {
					o.of, err = work(ctx, t.item)
					return err
				})
				t.result <- o
			}
		}, failed)
	}
	contain.Go(func() {
		defer close(results)
		defer close(tasks)
		for _, item := range items {
			if heavy.Acquire(ctx, weigh(item)) != nil {
				return
			}
			result := make(chan outcome, 1)
			results <- result
			select {
			case tasks <- task{item, result}:
			case <-ctx.Done():
				return
			}
		}
	}, failed)
	for _, item := range items {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case next, ok := <-results:
			if !ok {
				return ctx.Err()
			}
			select {
			case <-ctx.Done():
				return ctx.Err()
			case r := <-next:
				if ctx.Err() != nil { // the work may have failed because of it
					return ctx.Err()
				}
				err := contain.Do(func() error { return done(item, r.of, r.err) })
				if caught := contain.From(err); caught != nil {
					var none R
					err = contain.Do(func() error { return done(item, none, caught) })
				}
				if err != nil {
					return err
				}
				heavy.Release(weigh(item))
			}
		}
	}
	return nil
}
