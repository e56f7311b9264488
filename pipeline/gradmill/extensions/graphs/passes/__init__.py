"""From a function as it is read to what is printed: lower, functionalize, differentiate, keep, needs, schedule."""
