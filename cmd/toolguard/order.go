package main

import (
	"context"

	"golang.org/x/sync/semaphore"
)

// weightPerJob is how many bytes of files a job may have on average that are
// being worked on, or whose results wait for those before them.
const weightPerJob = 32 << 20

// inOrder works on items, several at a time, and hands the results to done one
// by one in the order of the items. Work starts only while the items that were
// begun and not handed on weigh no more than jobs can bear, so that results do
// not pile up behind a large item. It stops at the first error of done, or when
// the context ends; work that is under way is then not waited for, because it
// may hang on a read.
func inOrder[T, R any](ctx context.Context, items []T, jobs int, weight func(T) int64, work func(context.Context, T) R, done func(T, R) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	most := int64(jobs) * weightPerJob
	heavy := semaphore.NewWeighted(most)
	busy := semaphore.NewWeighted(int64(jobs))
	weigh := func(item T) int64 { return min(max(weight(item), weightPerJob/32), most) }

	results := make(chan chan R, jobs*32)
	go func() {
		defer close(results)
		for _, item := range items {
			if heavy.Acquire(ctx, weigh(item)) != nil || busy.Acquire(ctx, 1) != nil {
				return
			}
			result := make(chan R, 1)
			results <- result
			go func() {
				defer busy.Release(1)
				result <- work(ctx, item)
			}()
		}
	}()
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
				if err := done(item, r); err != nil {
					return err
				}
				heavy.Release(weigh(item))
			}
		}
	}
	return nil
}
